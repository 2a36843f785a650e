/** The tables that the migrations make, and what each is to somebody who carries an installation elsewhere. A new one is named here. */

/** What an installation is, owners before what refers to them, each with the columns that order its rows and name one. */
export const TABLES: Readonly<Record<string, readonly string[]>> = {
  users: ['id'],
  workspaces: ['id'],
  members: ['id'],
  sessions: ['id'],
  links: ['id'],
  passkeys: ['id'],
  identities: ['issuer', 'subject'],
  records: ['kind', 'id_hash'],
  api_keys: ['id'],
  connections: ['id'],
  claims: ['claim_id'],
  checks: ['claim_id', 'attempt'],
  signing_keys: ['key_id'],
  log: ['id'],
  retired_logs: ['log_id'],
  receipts: ['leaf_index'],
  tiles: ['level', 'tile_index', 'width'],
  tree_heads: ['tree_size', 'issued_at'],
  anchors: ['id'],
}

/** What stays where it is: private keys, which go from vault to vault, and what hosts count while they run. */
export const NOT_CARRIED: readonly string[] = ['sealed_signing_keys', 'rate_counters', 'leases']

/** How far the schema has come: there in a database without a row of anybody's, too. */
export const BOOKKEEPING: readonly string[] = ['migrations', 'migrations_lock']
