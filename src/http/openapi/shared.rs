//! Parts of the document that many operations have in common stand once, in `components`, and are referred to.
//!
//! Problems, parameters and headers are shared. What differs from the shared part of its name stays where it is,
//! except that a reference to a problem may have a description of its own, as OpenAPI 3.1 allows.

use super::operations;
use crate::http::problem::{self, Kind};
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{Components, Header, OpenApi, Ref, RefOr, Response};

/// How often equal parts must occur to be shared.
const OFTEN: usize = 2;

/// Moves what operations have in common to `components`.
pub(super) fn share(document: &mut OpenApi) {
    let mut components = document.components.take().unwrap_or_default();
    let mut parameters = Counts::default();
    let mut headers = Counts::default();
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        let (_, operation) = operation;
        for parameter in operation.parameters.iter().flatten() {
            if let RefOr::T(parameter) = parameter {
                parameters.add(name_of(&parameter.name), parameter);
            }
        }
        for response in operation.responses.responses.values() {
            let RefOr::T(response) = response else { continue };
            for (name, header) in &response.headers {
                if let RefOr::T(header) = header {
                    headers.add(name_of(name), header);
                }
            }
        }
    }
    components.parameters = parameters.shared();
    components.headers = headers.shared();
    for (_, operation) in document.paths.paths.values_mut().flat_map(operations) {
        for parameter in operation.parameters.iter_mut().flatten() {
            refer_to_parameter(&components, parameter);
        }
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response {
                for (name, header) in &mut response.headers {
                    refer_to_header(&components, name, header);
                }
            }
            refer_to_problem(&mut components, status, response);
        }
    }
    document.components = Some(components);
}

/// The different parts of each name, with the number of their occurrences.
struct Counts<T>(Vec<(String, Vec<(T, usize)>)>);

impl<T> Default for Counts<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq + Clone> Counts<T> {
    fn add(&mut self, name: String, part: &T) {
        let index = self.0.iter().position(|(of, _)| *of == name);
        let index = index.unwrap_or_else(|| {
            self.0.push((name, Vec::new()));
            self.0.len() - 1
        });
        let forms = &mut self.0[index].1;
        match forms.iter_mut().find(|(form, _)| form == part) {
            Some((_, count)) => *count += 1,
            None => forms.push((part.clone(), 1)),
        }
    }

    /// The most frequent part of each name, if it is frequent.
    fn shared<M: FromIterator<(String, RefOr<T>)>>(self) -> M {
        let frequent = self.0.into_iter().filter_map(|(name, forms)| {
            let (form, count) = forms.into_iter().max_by_key(|(_, count)| *count)?;
            (count >= OFTEN).then_some((name, RefOr::T(form)))
        });
        frequent.collect()
    }
}

fn refer_to_parameter(components: &Components, parameter: &mut RefOr<Parameter>) {
    let RefOr::T(part) = parameter else { return };
    let name = name_of(&part.name);
    if components.parameters.get(&name) == Some(parameter) {
        *parameter = RefOr::Ref(Ref::new(format!("#/components/parameters/{name}")));
    }
}

fn refer_to_header(components: &Components, name: &str, header: &mut RefOr<Header>) {
    let name = name_of(name);
    if components.headers.get(&name) == Some(header) {
        *header = RefOr::Ref(Ref::new(format!("#/components/headers/{name}")));
    }
}

/// Problems of one status are one response; a description that says more than its title stays.
fn refer_to_problem(components: &mut Components, status: &str, response: &mut RefOr<Response>) {
    let kind = Kind::ALL.iter().find(|kind| kind.status().as_str() == status);
    let (Some(kind), RefOr::T(part)) = (kind, &*response) else {
        return;
    };
    let is_problem = part.content.len() == 1 && part.content.contains_key(problem::MEDIA_TYPE);
    if !is_problem || !part.headers.is_empty() {
        return;
    }
    let name = format!("{kind:?}");
    let title = kind.title();
    let mut reference = Ref::from_response_name(&name);
    if part.description != title {
        reference.description.clone_from(&part.description);
    }
    components.responses.entry(name).or_insert_with(|| {
        let mut shared = part.clone();
        title.clone_into(&mut shared.description);
        RefOr::T(shared)
    });
    *response = RefOr::Ref(reference);
}

/// `If-Match` and `vault_id` as `IfMatch` and `VaultId`.
fn name_of(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect()
}
