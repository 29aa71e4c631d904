//! Authorization: keys, roles, vaults, limits and TLS.

mod actors;
mod headers;
mod keys;
mod rates;
mod rules;
mod scopes;
mod slow_bodies;
mod sockets;
mod tls;
mod walk;
mod web_pages;

use crate::harness::{Answer, Service};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use working_memory::domain::access::{AccessRole, VaultScope};
use working_memory::storage::access::keys::NewKey;

/// A key and a service that accepts it.
pub(crate) struct Holder {
    service: Service,
    pub(crate) key_id: String,
    pub(crate) token: String,
}

/// The first key of a service: an administrator of all vaults.
pub(crate) async fn first_admin(service: &Service) -> Holder {
    let root = json!({"name": "root", "role": "admin"});
    let made = service.post("/v1/keys", &root).await.is(201);
    Holder::of(service, &made.json())
}

/// A service with its first key.
pub(crate) async fn with_admin() -> (Service, Holder) {
    let service = Service::start().await;
    let admin = first_admin(&service).await;
    (service, admin)
}

impl Holder {
    fn of(service: &Service, made: &Value) -> Self {
        Self {
            service: service.clone(),
            key_id: made["key_id"].as_str().unwrap().to_owned(),
            token: made["key"].as_str().unwrap().to_owned(),
        }
    }

    /// The same key at another instance.
    pub(crate) fn at(&self, service: &Service) -> Self {
        Self {
            service: service.clone(),
            key_id: self.key_id.clone(),
            token: self.token.clone(),
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.service.request(method, path).bearer_auth(&self.token)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) fn putting(&self, vault: &str, text: &str) -> RequestBuilder {
        self.request(Method::PUT, &format!("/v1/vaults/{vault}/memories/agent/context"))
            .header("Content-Type", "text/plain")
            .body(text.to_owned())
    }

    pub(crate) async fn put(&self, vault: &str, text: &str) -> Answer {
        Answer::to(self.putting(vault, text)).await
    }

    /// Another key, with a right that this one may not have: created in the database, as the command line does.
    pub(crate) async fn make_speaker(&self, name: &str) -> Holder {
        let new = NewKey {
            name: name.parse().unwrap(),
            role: AccessRole::Writer,
            scope: VaultScope::All,
            speaks_for_others: true,
            created_by: "cli".to_owned(),
            expires_at: None,
            quota: None,
        };
        let (key, token) = self.service.storage().create_key(new).await.unwrap();
        Holder {
            service: self.service.clone(),
            key_id: key.key_id.to_string(),
            token: token.expose().to_owned(),
        }
    }

    /// Another key, created with this one.
    pub(crate) async fn make(&self, body: Value) -> Holder {
        let made = self.post("/v1/keys", &body).await.is(201);
        Holder::of(&self.service, &made.json())
    }
}
