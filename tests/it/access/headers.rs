//! Valid and invalid `Authorization` headers.

use super::with_admin;
use crate::harness::Answer;
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
        assert!(
            answer
                .header("www-authenticate")
                .contains(r#"error="invalid_token""#)
        );
        let problem = answer.unauthorized();
        assert!(!problem.to_string().contains("wm_"), "{problem}");
    }
    for values in [&[][..], &["Basic eDp5"], &["Digest x"]] {
        let answer = ask(values).await;
        assert_eq!(
            answer.header("www-authenticate"),
            r#"Bearer realm="working-memory""#
        );
        answer.unauthorized();
    }
    let upper = good
        .to_uppercase()
        .replace(&admin.token.to_uppercase(), &admin.token);
    for spelled in [good.replace("Bearer", "bearer"), upper, good.replace(' ', "   ")] {
        ask(&[&spelled]).await.is(200);
    }
    for values in [
        &[&*good, &*good][..],
        &["Bearer"],
        &["Bearer "],
        &["Bearer a b"],
        &["Bearer a,b"],
        &[""],
    ] {
        let answer = ask(values).await;
        assert!(
            answer
                .header("www-authenticate")
                .contains(r#"error="invalid_request""#)
        );
        answer.malformed("Authorization");
    }
    let binary = service.request(Method::GET, "/v1/vaults");
    Answer::to(binary.header("Authorization", &b"Bearer \xff"[..]))
        .await
        .malformed("Authorization");
}

#[tokio::test]
async fn metrics_need_any_key_and_health_checks_need_none() {
    let (service, admin) = with_admin().await;
    let limited = admin
        .make(serde_json::json!({"name": "p", "role": "reader", "vaults": ["nothing"]}))
        .await;
    service.get("/metrics").await.unauthorized();
    let metrics = limited.get("/metrics").await.is(200);
    assert!(
        metrics.text().contains("http_requests_refused_total"),
        "{}",
        metrics.text()
    );
    service.get("/readyz").await.is(200);
    service.get("/no/such/route").await.missing();
}
