"""Operations on keys.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, members


def list_keys(*, limit: int | None = None, cursor: str | None = None) -> Listing[models.Key, models.KeyList]:
    """List the keys.

    By id, those too that were revoked or have expired. A key that is limited to vaults sees those that are limited to
    some of them.
    """
    return Listing(
        operation="ListKeys",
        method="GET",
        path="/v1/keys",
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def create_key(
    *,
    name: str,
    role: models.KeyRole,
    vaults: Sequence[str] | NotGiven | None = NOT_GIVEN,
    vault_prefix: str | NotGiven | None = NOT_GIVEN,
    speaks_for_others: bool | NotGiven = NOT_GIVEN,
    expires_at: datetime | str | NotGiven | None = NOT_GIVEN,
) -> Call[models.NewKey]:
    """Make a key.

    Its secret is in this answer and nowhere else: what is stored is a hash of it. So this answer cannot be kept for
    an `Idempotency-Key`, which is refused: if the answer was lost, revoke the key (it is in the list) and make
    another. A key makes only keys with rights that it has: of vaults it reaches, that last no longer, and that speak
    for others only if it does. From the first key on, the service asks everybody for one.

    Args:
        name: Who holds it: the actor of what is written with it.
        role: What its holder may do.
        vaults: The vaults it reaches.
        vault_prefix: What the ids of the vaults begin with that it reaches.
        speaks_for_others: Whether `X-Actor-Id` may name somebody else.
        expires_at: From when on it is not taken.
    """
    return Call(
        operation="CreateKey",
        method="POST",
        path="/v1/keys",
        body=members(
            name=name,
            role=role,
            vaults=vaults,
            vault_prefix=vault_prefix,
            speaks_for_others=speaks_for_others,
            expires_at=expires_at,
        ),
        accept="application/json",
        answers="json",
    )


def get_key(key_id: str) -> Call[models.Key]:
    """Get a key.

    All but its secret, which nobody can show again.

    Args:
        key_id: An API key; not its secret.
    """
    return Call(
        operation="GetKey",
        method="GET",
        path="/v1/keys/{}",
        ids=(key_id,),
        accept="application/json",
        answers="json",
    )


def revoke_key(key_id: str) -> Call[None]:
    """Revoke a key.

    It is refused from now on, by every instance within a second. It stays in the list. Revoking it again changes
    nothing. When the last key is revoked the service goes on asking for one; `working-memory keys create` makes it.

    Args:
        key_id: An API key; not its secret.
    """
    return Call(
        operation="RevokeKey",
        method="DELETE",
        path="/v1/keys/{}",
        ids=(key_id,),
        answers="none",
    )


def rotate_key(key_id: str, *, grace_seconds: int | None = None) -> Call[models.NewKey]:
    """Rotate a key.

    Gives it a new secret, which is in this answer and nowhere else; all else stays, its id too. The old secret ends
    now, or after `grace_seconds`; a still older one ends now. Who gets the secret of a key has its rights, so a key
    rotates only those with rights that it has itself.

    Args:
        key_id: An API key; not its secret.
        grace_seconds: How many seconds the old secret is taken too.
    """
    return Call(
        operation="RotateKey",
        method="POST",
        path="/v1/keys/{}/rotate",
        ids=(key_id,),
        query={"grace_seconds": grace_seconds},
        accept="application/json",
        answers="json",
    )
