//! Valid and invalid `Authorization` headers.

use super::with_admin;
use crate::harness::{Answer, holds};
use reqwest::Method;

#[tokio::test]
async fn an_invalid_key_is_unauthorized_and_a_broken_header_malformed() {
    let (service, admin) = with_admin().await;
    let ask = async |values: &[&str]| {
        let mut request = service.request(Method::GET, "/v1/vaults");
        for value in values {
            request = request.header("Authorization", *value);
        }
        Answer::to(request).await
    };
    let good = format!("Bearer {}", admin.token);
    ask(&[&good]).await.is(200);
    let other_secret = format!("Bearer wm_{}_{}", admin.key_id, "0".repeat(64));
    let other_key = good.replace(&admin.key_id, "0123456789ab");
    for value in [&*other_secret, &other_key, "Bearer x", "Bearer wm_a_b"] {
        let answer = ask(&[value]).await;
        holds(answer.header("www-authenticate"), &[r#"error="invalid_token""#]);
        let problem = answer.unauthorized();
        assert!(!problem.to_string().contains("wm_"), "{problem}");
    }
    for values in [&[][..], &["Basic eDp5"], &["Digest x"]] {
        let answer = ask(values).await;
        let realm = r#"Bearer realm="working-memory""#;
        assert_eq!(answer.header("www-authenticate"), realm);
        answer.unauthorized();
    }
    let upper = good
        .to_uppercase()
        .replace(&admin.token.to_uppercase(), &admin.token);
    for spelled in [good.replace("Bearer", "bearer"), upper, good.replace(' ', "   ")] {
        ask(&[&spelled]).await.is(200);
    }
    let twice = [&*good, &*good];
    for values in [
        &twice[..],
        &["Bearer"],
        &["Bearer "],
        &["Bearer a b"],
        &["Bearer a,b"],
        &[""],
    ] {
        let answer = ask(values).await;
        holds(answer.header("www-authenticate"), &[r#"error="invalid_request""#]);
        answer.malformed("Authorization");
    }
    let binary = service.request(Method::GET, "/v1/vaults");
    let binary = Answer::to(binary.header("Authorization", &b"Bearer \xff"[..])).await;
    binary.malformed("Authorization");
}
