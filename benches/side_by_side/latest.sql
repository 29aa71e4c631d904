-- The newest document of a random memory, by key.
\set vault random(0, 99)
\set memory random(0, 99)
SELECT c.context
FROM memories m
JOIN memory_contexts c ON c.vault_id = m.vault_id AND c.memory_id = m.memory_id AND c.version = m.head_version
WHERE m.vault_id = 'team-' || lpad(:vault, 3, '0') AND m.memory_id = 'agent-' || lpad(:memory, 3, '0');
