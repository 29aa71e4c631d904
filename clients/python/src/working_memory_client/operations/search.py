"""Operations on search.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from .. import models
from .._call import Listing


def search_contexts(
    vault_id: str, *, q: str, consistent: bool | None = None, limit: int | None = None, cursor: str | None = None
) -> Listing[models.SearchResult, models.SearchResultList]:
    """Search the newest documents.

    The newest versions of the vault's memories that have the words, best first. Of more than 500 that have them the
    500 that were changed last are ranked; words next to each other are looked for in the 3,000 documents changed last
    that have them.

    Args:
        q: Words that the document has, as in a web search.
        consistent: Also find what was written in this moment.
    """
    return Listing(
        operation="SearchContexts",
        method="GET",
        path="/v1/vaults/{}/search",
        ids=(vault_id,),
        query={"q": q, "consistent": consistent, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )
