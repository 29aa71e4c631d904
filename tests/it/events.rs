//! What happens in a vault, as everybody is told: `GET /v1/vaults/{vault_id}/events`.
