CREATE TABLE `migrations` (`id` integer not null primary key autoincrement, `name` varchar(255), `batch` integer, `migration_time` datetime);
CREATE TABLE `migrations_lock` (`index` integer not null primary key autoincrement, `is_locked` integer);
CREATE TABLE `leases` (`name` text, `holder` text not null, `until` bigint not null, primary key (`name`));
CREATE TABLE `workspaces` (`id` text, `name` text not null, `paid_by` text, `created_at` bigint not null, `sign_in_rule` text not null default 'any', `deleted_at` bigint, primary key (`id`));
CREATE UNIQUE INDEX `workspaces_name_unique` on `workspaces` (`name`);
CREATE INDEX `workspaces_paid_by_index` on `workspaces` (`paid_by`);
CREATE TABLE `users` (`id` text, `email` text not null, `name` text not null, `password_hash` text, `created_at` bigint not null, `generation` integer not null, `shares_with` text, `closed_at` bigint, `confirmed_at` bigint, primary key (`id`));
CREATE UNIQUE INDEX `users_email_unique` on `users` (`email`);
CREATE INDEX `users_shares_with_index` on `users` (`shares_with`);
CREATE TABLE `members` (`id` text, `workspace_id` text not null, `user_id` text not null, `role` text not null, `created_at` bigint not null, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`user_id`) references `users`(`id`), primary key (`id`));
CREATE INDEX `members_user_id_index` on `members` (`user_id`);
CREATE UNIQUE INDEX `members_workspace_id_user_id_unique` on `members` (`workspace_id`, `user_id`);
CREATE TABLE `sessions` (`id` text, `token_hash` text not null, `user_id` text not null, `created_at` bigint not null, `last_seen_at` bigint not null, `expires_at` bigint not null, `user_agent` text not null, `address` text not null, `method` text not null, foreign key(`user_id`) references `users`(`id`), primary key (`id`));
CREATE UNIQUE INDEX `sessions_token_hash_unique` on `sessions` (`token_hash`);
CREATE INDEX `sessions_user_id_index` on `sessions` (`user_id`);
CREATE TABLE `links` (`id` text, `token_hash` text not null, `kind` text not null, `workspace_id` text, `role` text, `user_id` text, `created_by` text, `created_at` bigint not null, `expires_at` bigint not null, `used_at` bigint, `recipient` text, `undelivered` text, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`user_id`) references `users`(`id`), foreign key(`created_by`) references `users`(`id`), primary key (`id`));
CREATE UNIQUE INDEX `links_token_hash_unique` on `links` (`token_hash`);
CREATE INDEX `links_workspace_id_index` on `links` (`workspace_id`);
CREATE UNIQUE INDEX links_open_invitation ON links (workspace_id, recipient)
    WHERE kind = 'invitation' AND recipient IS NOT NULL AND used_at IS NULL;
CREATE TABLE `passkeys` (`id` text, `user_id` text not null, `public_key` text not null, `counter` bigint not null, `transports` text not null, `name` text not null, `created_at` bigint not null, `last_used_at` bigint, foreign key(`user_id`) references `users`(`id`), primary key (`id`));
CREATE INDEX `passkeys_user_id_index` on `passkeys` (`user_id`);
CREATE TABLE `identities` (`issuer` text not null, `subject` text not null, `user_id` text not null, `created_at` bigint not null, `last_used_at` bigint, foreign key(`user_id`) references `users`(`id`), primary key (`issuer`, `subject`));
CREATE INDEX `identities_user_id_index` on `identities` (`user_id`);
CREATE TABLE `seen_browsers` (`user_id` text not null, `browser` text not null, `seen_at` bigint not null, foreign key(`user_id`) references `users`(`id`), primary key (`user_id`, `browser`));
CREATE TABLE `second_steps` (`user_id` text, `secret` text not null, `last_counter` bigint not null, `failures` integer not null, `failed_at` bigint, `created_at` bigint not null, `last_used_at` bigint, foreign key(`user_id`) references `users`(`id`), primary key (`user_id`));
CREATE TABLE `recovery_codes` (`user_id` text not null, `code_hash` text not null, foreign key(`user_id`) references `users`(`id`), primary key (`user_id`, `code_hash`));
CREATE TABLE `records` (`kind` text not null, `id_hash` text not null, `payload` text not null, `grant_id` text, `uid` text, `consumed_at` bigint, `expires_at` bigint, primary key (`kind`, `id_hash`));
CREATE INDEX `records_grant_id_index` on `records` (`grant_id`);
CREATE INDEX `records_uid_index` on `records` (`uid`);
CREATE INDEX `records_expires_at_index` on `records` (`expires_at`);
CREATE TABLE `throttles` (`subject` text, `count` integer not null, `next_at` bigint not null, `expires_at` bigint not null, primary key (`subject`));
CREATE INDEX `throttles_expiry` on `throttles` (`expires_at`);
CREATE TABLE `api_keys` (`id` text, `workspace_id` text not null, `name` text not null, `key_hash` text not null, `last_four` text not null, `created_at` bigint not null, `revoked_at` bigint, `created_by` text, `last_used_at` bigint, `expires_at` bigint, `networks` text not null, `agent_ids` text, `last_address` text, `replaced_by` text, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`created_by`) references `users`(`id`), primary key (`id`));
CREATE UNIQUE INDEX `api_keys_key_hash_unique` on `api_keys` (`key_hash`);
CREATE TABLE `bound_agents` (`workspace_id` text not null, `agent_id` text not null, `bound_at` bigint not null, foreign key(`workspace_id`) references `workspaces`(`id`), primary key (`workspace_id`, `agent_id`));
CREATE TABLE `bound_looks` (`workspace_id` text not null, `look` text not null, `agent_id` text not null, `version` text not null, foreign key(`workspace_id`) references `workspaces`(`id`), primary key (`workspace_id`, `look`, `agent_id`));
CREATE TABLE `allowed_origins` (`workspace_id` text not null, `origin` text not null, `listed_at` bigint not null, foreign key(`workspace_id`) references `workspaces`(`id`), primary key (`workspace_id`, `origin`));
CREATE INDEX `allowed_origins_by_origin` on `allowed_origins` (`origin`);
CREATE TABLE `connections` (`id` text, `workspace_id` text not null, `name` text, `provider` text not null, `options` text not null, `sealed_secrets` text not null, `sealed_tokens` text not null, `source_key` text, `scopes` text not null, `address` text not null, `connected_at` bigint not null, `connected_by` text, `disconnected_at` bigint, `notes` text not null, `last_read_at` bigint, `last_failure_at` bigint, `last_failure` text, `state` text, `state_at` bigint, `trial_target` text, `expires_at` bigint, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`connected_by`) references `users`(`id`), primary key (`id`));
CREATE INDEX `connections_workspace_id_index` on `connections` (`workspace_id`);
CREATE TABLE `machines` (`id` text, `workspace_id` text not null, `name` text not null, `secret_hash` text not null, `last_four` text not null, `scopes` text not null, `created_by` text, `created_at` bigint not null, `last_used_at` bigint, `revoked_at` bigint, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`created_by`) references `users`(`id`), primary key (`id`));
CREATE INDEX `machines_workspace_id_index` on `machines` (`workspace_id`);
CREATE TABLE `claims` (`claim_id` text, `workspace_id` text not null, `payer` text not null, `client_claim_id` text not null, `agent_id` text not null, `agent_bound` integer not null, `action` text not null, `target` text not null, `params` text not null, `claimed_at` bigint not null, `deadline_at` bigint not null, `submitted_at` bigint not null, `claim_digest` text not null, `access` text not null, `connection_id` text, `origin` text, `submitted_by` text not null, `traceparent` text, `profile_action` text not null, `profile_version` text not null, `state` text not null, `attempts` integer not null, `due_at` bigint, `next_check_at` bigint, `moment_at` bigint, `last_check` text, `receipt_id` text, `log_id` text, `verdict` text, `reason_code` text, `profile_digest` text, `watched` integer not null default '0', `unsigned` integer not null default '0', `connection_removed` integer not null default '0', `fresh_by` text, foreign key(`workspace_id`) references `workspaces`(`id`), foreign key(`connection_id`) references `connections`(`id`), primary key (`claim_id`));
CREATE UNIQUE INDEX `claims_receipt_id_unique` on `claims` (`receipt_id`);
CREATE UNIQUE INDEX `claims_workspace_id_client_claim_id_unique` on `claims` (`workspace_id`, `client_claim_id`);
CREATE INDEX `claims_workspace_id_submitted_at_claim_id_index` on `claims` (`workspace_id`, `submitted_at`, `claim_id`);
CREATE INDEX `claims_agent` on `claims` (`workspace_id`, `agent_id`, `submitted_at`, `claim_id`);
CREATE TABLE `checks` (`claim_id` text not null, `attempt` integer not null, `record` text not null, foreign key(`claim_id`) references `claims`(`claim_id`), primary key (`claim_id`, `attempt`));
CREATE INDEX claims_due ON claims (due_at, moment_at, (payer || ' ' || workspace_id || ' ' || submitted_by || ' ' || COALESCE(connection_id, '') || ' ' || COALESCE(origin, '')), claim_id) WHERE state = 'queued';
CREATE INDEX claims_moment ON claims (moment_at, due_at, (payer || ' ' || workspace_id || ' ' || submitted_by || ' ' || COALESCE(connection_id, '') || ' ' || COALESCE(origin, '')), claim_id) WHERE state = 'queued';
CREATE INDEX claims_waiting ON claims (payer, workspace_id) WHERE state = 'queued';
CREATE INDEX claims_verdict ON claims (workspace_id, verdict, submitted_at, claim_id) WHERE verdict IS NOT NULL;
CREATE TRIGGER checks_no_update BEFORE UPDATE ON checks
          BEGIN SELECT RAISE(ABORT, 'checks is append-only'); END;
CREATE TABLE `signing_keys` (`key_id` text, `public_key` text not null, `valid_from` bigint not null, `revoked_at` bigint, primary key (`key_id`));
CREATE TABLE `sealed_signing_keys` (`key_id` text, `sealed` text not null, foreign key(`key_id`) references `signing_keys`(`key_id`), primary key (`key_id`));
CREATE TABLE `logs` (`log_id` text, `name` text not null, `begun_at` bigint not null, `ended_at` bigint, `archived_at` bigint, `contradicted_by` text, `agreed_on` text not null, `agreed_system` text not null, `restored_from` text, `erasures` bigint not null, primary key (`log_id`));
CREATE UNIQUE INDEX logs_open ON logs ((ended_at IS NULL)) WHERE ended_at IS NULL;
CREATE TABLE `tree_heads` (`log_id` text not null, `number` bigint not null, `tree_size` bigint not null, `root_hash` blob not null, `issued_at` bigint not null, `key_id` text not null, `signed` text not null, foreign key(`log_id`) references `logs`(`log_id`), foreign key(`key_id`) references `signing_keys`(`key_id`), primary key (`log_id`, `number`));
CREATE INDEX `tree_heads_log_id_tree_size_index` on `tree_heads` (`log_id`, `tree_size`);
CREATE TABLE `receipts` (`log_id` text not null, `leaf_index` bigint not null, `receipt_id` text not null, `claim_id` text not null, `leaf_hash` blob not null, `issued_at` bigint not null, `entry` text not null, foreign key(`claim_id`) references `claims`(`claim_id`), primary key (`log_id`, `leaf_index`));
CREATE UNIQUE INDEX `receipts_log_id_receipt_id_unique` on `receipts` (`log_id`, `receipt_id`);
CREATE INDEX receipts_leaf_hash ON receipts (log_id, (leaf_index / 1024), leaf_hash);
CREATE TABLE `evidence` (`log_id` text not null, `receipt_id` text not null, `document` text not null, foreign key(`log_id`, `receipt_id`) references `receipts`(`log_id`, `receipt_id`), primary key (`log_id`, `receipt_id`));
CREATE TABLE `tiles` (`log_id` text not null, `level` integer not null, `tile_index` bigint not null, `width` integer not null, `hashes` blob not null, primary key (`log_id`, `level`, `tile_index`, `width`));
CREATE TABLE `lost_receipts` (`receipt_id` text, `log_id` text not null, `leaf_index` bigint not null, `leaf_hash` blob not null, primary key (`receipt_id`));
CREATE INDEX `lost_receipts_log_id_leaf_index_index` on `lost_receipts` (`log_id`, `leaf_index`);
CREATE TRIGGER receipts_no_delete BEFORE DELETE ON receipts
          BEGIN SELECT RAISE(ABORT, 'receipts is append-only'); END;
CREATE TRIGGER evidence_no_update BEFORE UPDATE ON evidence
          BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER tiles_no_update BEFORE UPDATE ON tiles
          BEGIN SELECT RAISE(ABORT, 'tiles is append-only'); END;
CREATE TRIGGER tiles_no_delete BEFORE DELETE ON tiles
          BEGIN SELECT RAISE(ABORT, 'tiles is append-only'); END;
CREATE TRIGGER tree_heads_no_update BEFORE UPDATE ON tree_heads
          BEGIN SELECT RAISE(ABORT, 'tree_heads is append-only'); END;
CREATE TRIGGER tree_heads_no_delete BEFORE DELETE ON tree_heads
          BEGIN SELECT RAISE(ABORT, 'tree_heads is append-only'); END;
CREATE TABLE `retentions` (`workspace_id` text, `days` integer not null, `changed_at` bigint not null, `erased_before` bigint not null, foreign key(`workspace_id`) references `workspaces`(`id`), primary key (`workspace_id`));
CREATE TABLE `erasures` (`receipt_id` text, `claim_id` text not null, `log_id` text not null, `leaf_index` bigint not null, `leaf_hash` blob not null, `issued_at` bigint not null, `erased_at` bigint not null, `rule` text not null, `reference` text not null, foreign key(`claim_id`) references `claims`(`claim_id`), primary key (`receipt_id`));
CREATE UNIQUE INDEX `erasures_claim_id_unique` on `erasures` (`claim_id`);
CREATE INDEX `erasures_latest` on `erasures` (`erased_at`, `receipt_id`);
CREATE TRIGGER erasures_no_update BEFORE UPDATE ON erasures
          BEGIN SELECT RAISE(ABORT, 'erasures is append-only'); END;
CREATE TRIGGER erasures_no_delete BEFORE DELETE ON erasures
          BEGIN SELECT RAISE(ABORT, 'erasures is append-only'); END;
CREATE TRIGGER receipts_no_update BEFORE UPDATE ON receipts WHEN (NEW.entry = '' AND NEW.log_id = OLD.log_id AND NEW.leaf_index = OLD.leaf_index AND NEW.receipt_id = OLD.receipt_id AND NEW.claim_id = OLD.claim_id AND NEW.leaf_hash = OLD.leaf_hash AND NEW.issued_at = OLD.issued_at AND EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = OLD.receipt_id)) IS NOT TRUE
          BEGIN SELECT RAISE(ABORT, 'receipts is append-only'); END;
CREATE TRIGGER evidence_no_delete BEFORE DELETE ON evidence WHEN (EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = OLD.receipt_id)) IS NOT TRUE
          BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER checks_no_delete BEFORE DELETE ON checks WHEN (EXISTS (SELECT 1 FROM erasures WHERE erasures.claim_id = OLD.claim_id)) IS NOT TRUE
          BEGIN SELECT RAISE(ABORT, 'checks is append-only'); END;
CREATE TABLE `anchors` (`id` integer, `log_id` text not null, `tree_size` bigint not null, `root_hash` blob not null, `previous_id` integer, `chain` text not null, `scheme` text not null, `attester` text not null, `schema` text not null, `state` text not null, `signed` text not null, `problem` text, `planned_at` bigint not null, `sent_at` bigint, `uid` text, `tx_hash` text, `block_number` bigint, `block_time` bigint, `cost` text, `gas_used` bigint, foreign key(`previous_id`) references `anchors`(`id`), primary key (`id`));
CREATE UNIQUE INDEX `anchors_uid_unique` on `anchors` (`uid`);
CREATE UNIQUE INDEX anchors_open ON anchors (log_id) WHERE state IN ('planned', 'signed', 'sent', 'mined');
CREATE UNIQUE INDEX anchors_final ON anchors (log_id, tree_size) WHERE state = 'final';
CREATE TABLE `audit_trail` (`position` bigint, `at` bigint not null, `event` text not null, `actor_kind` text not null, `actor_id` text, `address` text, `workspace_id` text, `user_id` text, `subject` text, `details` text not null, `hash` blob not null, primary key (`position`));
CREATE INDEX `audit_trail_workspace` on `audit_trail` (`workspace_id`, `position`);
CREATE INDEX `audit_trail_user` on `audit_trail` (`user_id`, `position`);
CREATE TABLE `audit_trail_head` (`id` integer, `last_position` bigint not null, `last_hash` blob not null, `first_position` bigint not null, `before_hash` blob not null, primary key (`id`));
CREATE TRIGGER audit_trail_no_update BEFORE UPDATE ON audit_trail BEGIN SELECT RAISE(ABORT, 'audit_trail is append-only'); END;
CREATE TRIGGER audit_trail_no_delete BEFORE DELETE ON audit_trail WHEN OLD.position >= (SELECT first_position FROM audit_trail_head) BEGIN SELECT RAISE(ABORT, 'audit_trail is append-only'); END;
CREATE TABLE `mails` (`id` text, `kind` text not null, `recipient` text not null, `content` text, `once` text, `about` text, `created_at` bigint not null, `due_at` bigint not null, `attempts` integer not null, `sent_at` bigint, primary key (`id`));
CREATE UNIQUE INDEX `mails_once_unique` on `mails` (`once`);
CREATE INDEX `mails_about_index` on `mails` (`about`);
CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL;
CREATE TABLE `backups` (`epoch` text, `made_at` bigint not null, primary key (`epoch`));
CREATE INDEX `backups_made_at_index` on `backups` (`made_at`);
CREATE TABLE `profile_settings` (`action` text not null, `version` text not null, `digest` text not null, `closing_ms` bigint not null, `grace_ms` bigint not null, `since` bigint not null, `deciding` text not null, primary key (`action`, `version`, `digest`, `closing_ms`, `grace_ms`));
CREATE INDEX claims_watched ON claims (due_at, workspace_id) WHERE state = 'queued' AND watched = 1;
CREATE INDEX claims_ahead ON claims (submitted_at, submitted_by) WHERE fresh_by = 'claimed_ahead';
CREATE INDEX claims_action ON claims (workspace_id, action, submitted_at, claim_id) WHERE action <> '';
CREATE INDEX claims_queued ON claims (workspace_id, submitted_at, claim_id) WHERE verdict IS NULL;
