//! Masks credentials in what a finished run stores of its request and its model exchanges.

use crate::domain::text::masked;
use serde_json::Value;

/// Returns the value with every credential in its texts masked. Texts for which `has_none` returns true are not
/// searched.
pub(super) fn without_secrets(value: &Value, has_none: &impl Fn(&str) -> bool) -> Value {
    let same = |value| without_secrets(value, has_none);
    match value {
        Value::String(text) if has_none(text) => value.clone(),
        Value::String(text) => Value::String(masked(text)),
        Value::Array(values) => values.iter().map(same).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), same(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_are_masked_wherever_they_are_and_all_else_stays() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let exchange = json!({
            "messages": [{"role": "user", "content": format!("use {token} for it")}],
            "attempts": 2,
            "error": null,
        });
        let kept = without_secrets(&exchange, &|text| text == "assistant");
        assert!(!kept.to_string().contains(&token), "{kept}");
        assert_eq!(kept["messages"][0]["content"], "use [secret] for it");
        assert_eq!(kept["messages"][0]["role"], "user");
        assert_eq!((&kept["attempts"], &kept["error"]), (&json!(2), &Value::Null));
    }
}
