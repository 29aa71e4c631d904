//! The arguments of a tool, parsed strictly: an unknown or missing member or a wrong type is named.

use super::failure::Failure;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses the arguments that remain after vault and memory were removed. A member that is null counts as missing.
pub(super) fn read<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, Failure> {
    arguments.retain(|_, value| !value.is_null());
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match path.as_str() {
            "." => Failure::argument("the arguments", format!("the arguments are not valid: {cause}")),
            path => Failure::argument(path, format!("the argument {path} is not valid: {cause}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        add: Option<Vec<Item>>,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        #[expect(dead_code, reason = "is only read")]
        reason: String,
    }

    fn message_for(value: Value) -> String {
        let Value::Object(arguments) = value else {
            panic!("no object")
        };
        format!("{:?}", read::<Sample>(arguments).unwrap_err())
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(message_for(json!({"add": [{"reason": "a"}, {"reason": 1}]})).contains("add[1].reason"));
        assert!(message_for(json!({"more": 1})).contains("more"));
        assert!(message_for(json!({"add": [{}]})).contains("reason"));
    }

    #[test]
    fn null_is_left_out() {
        let Value::Object(arguments) = json!({"add": null}) else {
            panic!("no object")
        };
        assert!(read::<Sample>(arguments).unwrap().add.is_none());
    }
}
