//! `GET` and `POST /ui/sign-in`, `POST /ui/sign-out`.

use crate::dashboard::failure::Failure;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Visit, Visitor};
use askama::Template;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use url::{Position, Url};

#[derive(Template)]
#[template(path = "pages/sign_in.html")]
struct View {
    page: Page,
    next: String,
    refused: bool,
}

/// Shows the form.
pub(in crate::dashboard) async fn show(visitor: Visitor, request: Request) -> Result<Response, Failure> {
    let query = request.uri().query().unwrap_or_default();
    let next = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "next");
    let next = next.map(|(_, value)| value.into_owned()).unwrap_or_default();
    if visitor.caller.is_some() {
        return Ok(Redirect::to(own(&next)).into_response());
    }
    form(&visitor, next, false)
}

fn form(visitor: &Visitor, next: String, refused: bool) -> Result<Response, Failure> {
    let mut page = Page::plain("Sign in");
    page.crumbs.clear();
    page.form_token.clone_from(&visitor.form_token);
    layout::render(&View { page, next, refused })
}

/// Starts a session.
pub(in crate::dashboard) async fn sign_in(form: Form<Visitor>) -> Result<Response, Failure> {
    let key = form.fields.text("key").trim().to_owned();
    let next = form.fields.text("next").to_owned();
    let signed_in = match form.services.sessions.sign_in(&key, &form.headers).await {
        Ok(signed_in) => signed_in,
        Err(problem) => return Ok(problem.into_response()),
    };
    let Some(cookie) = signed_in else {
        let mut response = self::form(&form.visit, next, true)?;
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        return Ok(response);
    };
    Ok(([(SET_COOKIE, cookie)], Redirect::to(own(&next))).into_response())
}

/// Ends the session.
pub(in crate::dashboard) async fn sign_out(form: Form<Visit>) -> Result<Response, Failure> {
    match form.services.sessions.sign_out(&form.headers).await {
        Ok(cookie) => Ok(([(SET_COOKIE, cookie)], Redirect::to("/ui/sign-in")).into_response()),
        Err(problem) => Ok(problem.into_response()),
    }
}

/// The page to open after signing in, only within this service.
fn own(next: &str) -> &str {
    // As a browser resolves it: dots, escaped or not, may lead out of the dashboard.
    let here = Url::parse("http://dashboard").ok();
    let resolved = here.as_ref().and_then(|here| here.join(next).ok());
    let is_own = resolved.is_some_and(|url| {
        url[Position::BeforeHost..] == format!("dashboard{next}")
            && url.path().starts_with("/ui/")
            && !url.path().starts_with("/ui/sign-in")
    });
    if is_own { next } else { "/ui/" }
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn signing_in_leads_to_no_other_site() {
        assert_eq!(own("/ui/vaults/v?sort=bytes"), "/ui/vaults/v?sort=bytes");
        let foreign = "|https://e.org|//e.org|/\\e.org|/ui/\\..|/ui/ x|/v1/vaults|/ui/sign-in|/ui/../../v1/vaults|\
                       /ui/%2e%2e/v1/vaults|/ui/vaults/.%2E/../..//e.org|/ui/./sign-in";
        for foreign in foreign.split('|') {
            assert_eq!(own(foreign), "/ui/", "{foreign}");
        }
    }
}
