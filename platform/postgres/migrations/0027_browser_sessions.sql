-- Up Migration
-- Log-ins of browsers to the dashboard. Each acts as an API key, and ends with it. Only the hash of the cookie is stored.
create table assay.browser_sessions (
  session_id      uuid primary key default gen_random_uuid(),
  organization_id uuid not null,
  key_id          uuid not null references assay.api_keys,
  hash            bytea not null unique check (length(hash) = 32),
  user_agent      text not null,           -- as the browser named itself, cut; '' if it did not
  created_at      timestamptz(3) not null,
  last_used_at    timestamptz(3) not null, -- to the minute
  expires_at      timestamptz(3) not null  -- however much it is used
) with (fillfactor = 70);
create index on assay.browser_sessions (key_id, created_at);
create index on assay.browser_sessions (expires_at);

-- One-time links that log a browser in. A used token is deleted. Only the owner reads and writes them.
create table assay.login_tokens (
  hash       bytea primary key check (length(hash) = 32),
  key_id     uuid not null references assay.api_keys,
  expires_at timestamptz(3) not null
);
alter table assay.login_tokens enable row level security;

grant select (session_id, organization_id, key_id, user_agent, created_at, last_used_at, expires_at), insert, delete
   on assay.browser_sessions to assay_api;
alter table assay.browser_sessions enable row level security;
create policy own_organization on assay.browser_sessions to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
