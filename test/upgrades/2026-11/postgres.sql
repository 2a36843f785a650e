CREATE FUNCTION public.refuse_audit_trail_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
          IF OLD.position >= (SELECT first_position FROM audit_trail_head) THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN OLD;
        END $$;
CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
CREATE FUNCTION public.refuse_checks_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
          IF (EXISTS (SELECT 1 FROM erasures WHERE erasures.claim_id = OLD.claim_id)) IS NOT TRUE THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN OLD;
        END $$;
CREATE FUNCTION public.refuse_evidence_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
          IF (EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = OLD.receipt_id)) IS NOT TRUE THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN OLD;
        END $$;
CREATE FUNCTION public.refuse_receipts_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
          IF (NEW.entry = '' AND NEW.log_id = OLD.log_id AND NEW.leaf_index = OLD.leaf_index AND NEW.receipt_id = OLD.receipt_id AND NEW.claim_id = OLD.claim_id AND NEW.leaf_hash = OLD.leaf_hash AND NEW.issued_at = OLD.issued_at AND EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = OLD.receipt_id)) IS NOT TRUE THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN NEW;
        END $$;
CREATE TABLE public.allowed_origins (
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL COLLATE pg_catalog."C",
    listed_at bigint NOT NULL
);
CREATE TABLE public.anchors (
    id integer NOT NULL,
    log_id text NOT NULL,
    tree_size bigint NOT NULL,
    root_hash bytea NOT NULL,
    previous_id integer,
    chain text NOT NULL,
    scheme text NOT NULL,
    attester text NOT NULL,
    schema text NOT NULL,
    state text NOT NULL,
    signed text NOT NULL,
    problem text,
    planned_at bigint NOT NULL,
    sent_at bigint,
    uid text,
    tx_hash text,
    block_number bigint,
    block_time bigint,
    cost text,
    gas_used bigint
);
CREATE TABLE public.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    key_hash text NOT NULL COLLATE pg_catalog."C",
    last_four text NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    created_by text,
    last_used_at bigint,
    expires_at bigint,
    networks text NOT NULL,
    agent_ids text,
    last_address text,
    replaced_by text
);
CREATE TABLE public.audit_trail (
    "position" bigint NOT NULL,
    at bigint NOT NULL,
    event text NOT NULL,
    actor_kind text NOT NULL,
    actor_id text,
    address text,
    workspace_id text,
    user_id text,
    subject text,
    details text NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE public.audit_trail_head (
    id integer NOT NULL,
    last_position bigint NOT NULL,
    last_hash bytea NOT NULL,
    first_position bigint NOT NULL,
    before_hash bytea NOT NULL
);
CREATE TABLE public.backups (
    epoch text NOT NULL,
    made_at bigint NOT NULL
);
CREATE TABLE public.bound_agents (
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    bound_at bigint NOT NULL
);
CREATE TABLE public.bound_looks (
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    look text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL
);
CREATE TABLE public.checks (
    claim_id text NOT NULL COLLATE pg_catalog."C",
    attempt integer NOT NULL,
    record text NOT NULL
);
CREATE TABLE public.claims (
    claim_id text NOT NULL COLLATE pg_catalog."C",
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    payer text NOT NULL COLLATE pg_catalog."C",
    client_claim_id text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    agent_bound integer NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    params text NOT NULL,
    claimed_at bigint NOT NULL,
    deadline_at bigint NOT NULL,
    submitted_at bigint NOT NULL,
    claim_digest text NOT NULL,
    access text NOT NULL,
    connection_id text COLLATE pg_catalog."C",
    origin text,
    submitted_by text NOT NULL,
    traceparent text,
    profile_action text NOT NULL COLLATE pg_catalog."C",
    profile_version text NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL,
    due_at bigint,
    next_check_at bigint,
    moment_at bigint,
    last_check text,
    receipt_id text COLLATE pg_catalog."C",
    log_id text COLLATE pg_catalog."C",
    verdict text,
    reason_code text,
    profile_digest text,
    watched integer DEFAULT 0 NOT NULL,
    unsigned integer DEFAULT 0 NOT NULL,
    connection_removed integer DEFAULT 0 NOT NULL,
    fresh_by text
);
CREATE TABLE public.connections (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    name text,
    provider text NOT NULL,
    options text NOT NULL,
    sealed_secrets text NOT NULL,
    sealed_tokens text NOT NULL,
    source_key text,
    scopes text NOT NULL,
    address text NOT NULL,
    connected_at bigint NOT NULL,
    connected_by text,
    disconnected_at bigint,
    notes text NOT NULL,
    last_read_at bigint,
    last_failure_at bigint,
    last_failure text,
    state text,
    state_at bigint,
    trial_target text,
    expires_at bigint
);
CREATE TABLE public.erasures (
    receipt_id text NOT NULL COLLATE pg_catalog."C",
    claim_id text NOT NULL COLLATE pg_catalog."C",
    log_id text NOT NULL COLLATE pg_catalog."C",
    leaf_index bigint NOT NULL,
    leaf_hash bytea NOT NULL,
    issued_at bigint NOT NULL,
    erased_at bigint NOT NULL,
    rule text NOT NULL,
    reference text NOT NULL
);
CREATE TABLE public.evidence (
    log_id text NOT NULL COLLATE pg_catalog."C",
    receipt_id text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL
);
CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
);
CREATE TABLE public.leases (
    name text NOT NULL,
    holder text NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE public.links (
    id text NOT NULL,
    token_hash text NOT NULL,
    kind text NOT NULL,
    workspace_id text COLLATE pg_catalog."C",
    role text,
    user_id text,
    created_by text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    recipient text,
    undelivered text
);
CREATE TABLE public.log_hosts (
    host_id text NOT NULL,
    until bigint NOT NULL,
    compared_on text NOT NULL,
    asked bigint NOT NULL,
    answered bigint NOT NULL,
    knows text NOT NULL
);
CREATE TABLE public.logs (
    log_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    begun_at bigint NOT NULL,
    ended_at bigint,
    archived_at bigint,
    contradicted_by text,
    agreed_on text NOT NULL,
    agreed_system text NOT NULL,
    restored_from text,
    erasures bigint NOT NULL
);
CREATE TABLE public.lost_receipts (
    receipt_id text NOT NULL,
    log_id text NOT NULL,
    leaf_index bigint NOT NULL,
    leaf_hash bytea NOT NULL
);
CREATE TABLE public.machines (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    secret_hash text NOT NULL,
    last_four text NOT NULL,
    scopes text NOT NULL,
    created_by text,
    created_at bigint NOT NULL,
    last_used_at bigint,
    revoked_at bigint
);
CREATE TABLE public.mails (
    id text NOT NULL,
    kind text NOT NULL,
    recipient text NOT NULL,
    content text,
    once text,
    about text,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    attempts integer NOT NULL,
    sent_at bigint
);
CREATE TABLE public.members (
    id text NOT NULL,
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.migrations (
    id integer NOT NULL,
    name character varying(255),
    batch integer,
    migration_time timestamp with time zone
);
CREATE SEQUENCE public.migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.migrations_id_seq OWNED BY public.migrations.id;
CREATE TABLE public.migrations_lock (
    index integer NOT NULL,
    is_locked integer
);
CREATE SEQUENCE public.migrations_lock_index_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.migrations_lock_index_seq OWNED BY public.migrations_lock.index;
CREATE TABLE public.passkeys (
    id text NOT NULL,
    user_id text NOT NULL,
    public_key text NOT NULL,
    counter bigint NOT NULL,
    transports text NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
);
CREATE TABLE public.profile_settings (
    action text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    closing_ms bigint NOT NULL,
    grace_ms bigint NOT NULL,
    since bigint NOT NULL,
    deciding text NOT NULL
);
CREATE UNLOGGED TABLE public.rate_counters (
    limiter text NOT NULL,
    subject text NOT NULL,
    window_start bigint NOT NULL,
    count integer NOT NULL
);
CREATE TABLE public.receipts (
    log_id text NOT NULL COLLATE pg_catalog."C",
    leaf_index bigint NOT NULL,
    receipt_id text NOT NULL COLLATE pg_catalog."C",
    claim_id text NOT NULL COLLATE pg_catalog."C",
    leaf_hash bytea NOT NULL,
    issued_at bigint NOT NULL,
    entry text NOT NULL
);
CREATE TABLE public.records (
    kind text NOT NULL,
    id_hash text NOT NULL,
    payload text NOT NULL,
    grant_id text,
    uid text,
    consumed_at bigint,
    expires_at bigint
);
CREATE TABLE public.recovery_codes (
    user_id text NOT NULL,
    code_hash text NOT NULL
);
CREATE TABLE public.retentions (
    workspace_id text NOT NULL COLLATE pg_catalog."C",
    days integer NOT NULL,
    changed_at bigint NOT NULL,
    erased_before bigint NOT NULL
);
CREATE TABLE public.sealed_signing_keys (
    key_id text NOT NULL,
    sealed text NOT NULL
);
CREATE TABLE public.second_steps (
    user_id text NOT NULL,
    secret text NOT NULL,
    last_counter bigint NOT NULL,
    failures integer NOT NULL,
    failed_at bigint,
    created_at bigint NOT NULL,
    last_used_at bigint
);
CREATE TABLE public.seen_browsers (
    user_id text NOT NULL,
    browser text NOT NULL,
    seen_at bigint NOT NULL
);
CREATE TABLE public.sessions (
    id text NOT NULL,
    token_hash text NOT NULL,
    user_id text NOT NULL,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    user_agent text NOT NULL,
    address text NOT NULL,
    method text NOT NULL
);
CREATE TABLE public.signing_keys (
    key_id text NOT NULL,
    public_key text NOT NULL,
    valid_from bigint NOT NULL,
    revoked_at bigint
);
CREATE TABLE public.throttles (
    subject text NOT NULL COLLATE pg_catalog."C",
    count integer NOT NULL,
    next_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.tiles (
    log_id text NOT NULL COLLATE pg_catalog."C",
    level integer NOT NULL,
    tile_index bigint NOT NULL,
    width integer NOT NULL,
    hashes bytea NOT NULL
);
CREATE TABLE public.tree_heads (
    log_id text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    tree_size bigint NOT NULL,
    root_hash bytea NOT NULL,
    issued_at bigint NOT NULL,
    key_id text NOT NULL,
    signed text NOT NULL
);
CREATE TABLE public.users (
    id text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text,
    created_at bigint NOT NULL,
    generation integer NOT NULL,
    shares_with text,
    closed_at bigint,
    confirmed_at bigint
);
CREATE TABLE public.workspaces (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    paid_by text,
    created_at bigint NOT NULL,
    sign_in_rule text DEFAULT 'any'::text NOT NULL,
    deleted_at bigint
);
ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);
ALTER TABLE ONLY public.migrations_lock ALTER COLUMN index SET DEFAULT nextval('public.migrations_lock_index_seq'::regclass);
ALTER TABLE ONLY public.allowed_origins
    ADD CONSTRAINT allowed_origins_pkey PRIMARY KEY (workspace_id, origin);
ALTER TABLE ONLY public.anchors
    ADD CONSTRAINT anchors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.anchors
    ADD CONSTRAINT anchors_uid_unique UNIQUE (uid);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_unique UNIQUE (key_hash);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_trail_head
    ADD CONSTRAINT audit_trail_head_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_trail
    ADD CONSTRAINT audit_trail_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY public.backups
    ADD CONSTRAINT backups_pkey PRIMARY KEY (epoch);
ALTER TABLE ONLY public.bound_agents
    ADD CONSTRAINT bound_agents_pkey PRIMARY KEY (workspace_id, agent_id);
ALTER TABLE ONLY public.bound_looks
    ADD CONSTRAINT bound_looks_pkey PRIMARY KEY (workspace_id, look, agent_id);
ALTER TABLE ONLY public.checks
    ADD CONSTRAINT checks_pkey PRIMARY KEY (claim_id, attempt);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (claim_id);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_receipt_id_unique UNIQUE (receipt_id);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_workspace_id_client_claim_id_unique UNIQUE (workspace_id, client_claim_id);
ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_claim_id_unique UNIQUE (claim_id);
ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (receipt_id);
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (log_id, receipt_id);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_token_hash_unique UNIQUE (token_hash);
ALTER TABLE ONLY public.log_hosts
    ADD CONSTRAINT log_hosts_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY public.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (log_id);
ALTER TABLE ONLY public.lost_receipts
    ADD CONSTRAINT lost_receipts_pkey PRIMARY KEY (receipt_id);
ALTER TABLE ONLY public.machines
    ADD CONSTRAINT machines_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_once_unique UNIQUE (once);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_workspace_id_user_id_unique UNIQUE (workspace_id, user_id);
ALTER TABLE ONLY public.migrations_lock
    ADD CONSTRAINT migrations_lock_pkey PRIMARY KEY (index);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.profile_settings
    ADD CONSTRAINT profile_settings_pkey PRIMARY KEY (action, version, digest, closing_ms, grace_ms);
ALTER TABLE ONLY public.rate_counters
    ADD CONSTRAINT rate_counters_pkey PRIMARY KEY (window_start, limiter, subject);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_log_id_receipt_id_unique UNIQUE (log_id, receipt_id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (log_id, leaf_index);
ALTER TABLE ONLY public.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (kind, id_hash);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash);
ALTER TABLE ONLY public.retentions
    ADD CONSTRAINT retentions_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.sealed_signing_keys
    ADD CONSTRAINT sealed_signing_keys_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.second_steps
    ADD CONSTRAINT second_steps_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.seen_browsers
    ADD CONSTRAINT seen_browsers_pkey PRIMARY KEY (user_id, browser);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_unique UNIQUE (token_hash);
ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.throttles
    ADD CONSTRAINT throttles_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY public.tiles
    ADD CONSTRAINT tiles_pkey PRIMARY KEY (log_id, level, tile_index, width);
ALTER TABLE ONLY public.tree_heads
    ADD CONSTRAINT tree_heads_pkey PRIMARY KEY (log_id, number);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_unique UNIQUE (email);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_name_unique UNIQUE (name);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_pkey PRIMARY KEY (id);
CREATE INDEX allowed_origins_by_origin ON public.allowed_origins USING btree (origin);
CREATE UNIQUE INDEX anchors_final ON public.anchors USING btree (log_id, tree_size) WHERE (state = 'final'::text);
CREATE UNIQUE INDEX anchors_open ON public.anchors USING btree (log_id) WHERE (state = ANY (ARRAY['planned'::text, 'signed'::text, 'sent'::text, 'mined'::text]));
CREATE INDEX audit_trail_user ON public.audit_trail USING btree (user_id, "position");
CREATE INDEX audit_trail_workspace ON public.audit_trail USING btree (workspace_id, "position");
CREATE INDEX backups_made_at_index ON public.backups USING btree (made_at);
CREATE INDEX claims_action ON public.claims USING btree (workspace_id, action, submitted_at, claim_id) WHERE (action <> ''::text);
CREATE INDEX claims_agent ON public.claims USING btree (workspace_id, agent_id, submitted_at, claim_id);
CREATE INDEX claims_ahead ON public.claims USING btree (submitted_at, submitted_by) WHERE (fresh_by = 'claimed_ahead'::text);
CREATE INDEX claims_due ON public.claims USING btree (due_at, moment_at, (((((((((payer || ' '::text) || workspace_id) || ' '::text) || submitted_by) || ' '::text) || COALESCE(connection_id, ''::text)) || ' '::text) || COALESCE(origin, ''::text))), claim_id) WHERE (state = 'queued'::text);
CREATE INDEX claims_moment ON public.claims USING btree (moment_at, due_at, (((((((((payer || ' '::text) || workspace_id) || ' '::text) || submitted_by) || ' '::text) || COALESCE(connection_id, ''::text)) || ' '::text) || COALESCE(origin, ''::text))), claim_id) WHERE (state = 'queued'::text);
CREATE INDEX claims_queued ON public.claims USING btree (workspace_id, submitted_at, claim_id) WHERE (verdict IS NULL);
CREATE INDEX claims_verdict ON public.claims USING btree (workspace_id, verdict, submitted_at, claim_id) WHERE (verdict IS NOT NULL);
CREATE INDEX claims_waiting ON public.claims USING btree (payer, workspace_id) WHERE (state = 'queued'::text);
CREATE INDEX claims_watched ON public.claims USING btree (due_at, workspace_id) WHERE ((state = 'queued'::text) AND (watched = 1));
CREATE INDEX claims_workspace_id_submitted_at_claim_id_index ON public.claims USING btree (workspace_id, submitted_at, claim_id);
CREATE INDEX connections_workspace_id_index ON public.connections USING btree (workspace_id);
CREATE INDEX erasures_latest ON public.erasures USING btree (erased_at, receipt_id);
CREATE INDEX identities_user_id_index ON public.identities USING btree (user_id);
CREATE UNIQUE INDEX links_open_invitation ON public.links USING btree (workspace_id, recipient) WHERE ((kind = 'invitation'::text) AND (recipient IS NOT NULL) AND (used_at IS NULL));
CREATE INDEX links_workspace_id_index ON public.links USING btree (workspace_id);
CREATE UNIQUE INDEX logs_open ON public.logs USING btree (((ended_at IS NULL))) WHERE (ended_at IS NULL);
CREATE INDEX lost_receipts_log_id_leaf_index_index ON public.lost_receipts USING btree (log_id, leaf_index);
CREATE INDEX machines_workspace_id_index ON public.machines USING btree (workspace_id);
CREATE INDEX mails_about_index ON public.mails USING btree (about);
CREATE INDEX mails_due ON public.mails USING btree (due_at) WHERE (sent_at IS NULL);
CREATE INDEX members_user_id_index ON public.members USING btree (user_id);
CREATE INDEX passkeys_user_id_index ON public.passkeys USING btree (user_id);
CREATE INDEX receipts_leaf_hash ON public.receipts USING btree (log_id, ((leaf_index / 1024)), leaf_hash);
CREATE INDEX records_expires_at_index ON public.records USING btree (expires_at);
CREATE INDEX records_grant_id_index ON public.records USING btree (grant_id);
CREATE INDEX records_uid_index ON public.records USING btree (uid);
CREATE INDEX sessions_user_id_index ON public.sessions USING btree (user_id);
CREATE INDEX throttles_expiry ON public.throttles USING btree (expires_at);
CREATE INDEX tree_heads_log_id_tree_size_index ON public.tree_heads USING btree (log_id, tree_size);
CREATE INDEX users_shares_with_index ON public.users USING btree (shares_with);
CREATE INDEX workspaces_paid_by_index ON public.workspaces USING btree (paid_by);
CREATE TRIGGER audit_trail_no_change BEFORE UPDATE OR TRUNCATE ON public.audit_trail FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER audit_trail_no_deletion BEFORE DELETE ON public.audit_trail FOR EACH ROW EXECUTE FUNCTION public.refuse_audit_trail_deletion();
CREATE TRIGGER checks_append_only BEFORE DELETE ON public.checks FOR EACH ROW EXECUTE FUNCTION public.refuse_checks_change();
CREATE TRIGGER checks_no_other_change BEFORE UPDATE OR TRUNCATE ON public.checks FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER erasures_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.erasures FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER evidence_append_only BEFORE DELETE ON public.evidence FOR EACH ROW EXECUTE FUNCTION public.refuse_evidence_change();
CREATE TRIGGER evidence_no_other_change BEFORE UPDATE OR TRUNCATE ON public.evidence FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER receipts_append_only BEFORE UPDATE ON public.receipts FOR EACH ROW EXECUTE FUNCTION public.refuse_receipts_change();
CREATE TRIGGER receipts_no_other_change BEFORE DELETE OR TRUNCATE ON public.receipts FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER tiles_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.tiles FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
CREATE TRIGGER tree_heads_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.tree_heads FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();
ALTER TABLE ONLY public.allowed_origins
    ADD CONSTRAINT allowed_origins_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.anchors
    ADD CONSTRAINT anchors_previous_id_foreign FOREIGN KEY (previous_id) REFERENCES public.anchors(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_created_by_foreign FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.bound_agents
    ADD CONSTRAINT bound_agents_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.bound_looks
    ADD CONSTRAINT bound_looks_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.checks
    ADD CONSTRAINT checks_claim_id_foreign FOREIGN KEY (claim_id) REFERENCES public.claims(claim_id);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_connection_id_foreign FOREIGN KEY (connection_id) REFERENCES public.connections(id);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_connected_by_foreign FOREIGN KEY (connected_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_claim_id_foreign FOREIGN KEY (claim_id) REFERENCES public.claims(claim_id);
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_log_id_receipt_id_foreign FOREIGN KEY (log_id, receipt_id) REFERENCES public.receipts(log_id, receipt_id);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_created_by_foreign FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.machines
    ADD CONSTRAINT machines_created_by_foreign FOREIGN KEY (created_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.machines
    ADD CONSTRAINT machines_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_claim_id_foreign FOREIGN KEY (claim_id) REFERENCES public.claims(claim_id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.retentions
    ADD CONSTRAINT retentions_workspace_id_foreign FOREIGN KEY (workspace_id) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.sealed_signing_keys
    ADD CONSTRAINT sealed_signing_keys_key_id_foreign FOREIGN KEY (key_id) REFERENCES public.signing_keys(key_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.second_steps
    ADD CONSTRAINT second_steps_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.seen_browsers
    ADD CONSTRAINT seen_browsers_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_foreign FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.tree_heads
    ADD CONSTRAINT tree_heads_key_id_foreign FOREIGN KEY (key_id) REFERENCES public.signing_keys(key_id);
ALTER TABLE ONLY public.tree_heads
    ADD CONSTRAINT tree_heads_log_id_foreign FOREIGN KEY (log_id) REFERENCES public.logs(log_id);
SELECT setval('public.migrations_id_seq', 15);
