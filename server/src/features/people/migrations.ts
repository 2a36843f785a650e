/** The tables of people: accounts, how they sign in, and membership in workspaces. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const peopleMigrations = { '002-people': { up }, '016-inviters': { up: placeBelowInviters } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await createAccounts(db)
  await createSignIn(db)
  await createSecrets(db)
  const { compareBytes } = dialect.migrations
  const statements = [
    ...compareBytes('members', ['workspace_id']),
    ...compareBytes('links', ['workspace_id']),
    ...compareBytes('throttles', ['subject']),
  ]
  for (const sql of statements) await db.raw(sql)
}

async function createAccounts(db: MigrationDb): Promise<void> {
  await db.schema.createTable('users', (table) => {
    table.text('id').primary()
    // Addresses are in lower case.
    table.text('email').notNullable().unique()
    table.text('name').notNullable()
    // argon2id in its own text form; null for a user who signs in by other means only.
    table.text('password_hash')
    table.bigInteger('created_at').notNullable()
    // The number that rises with each new password: what began under an earlier one ends.
    table.integer('generation').notNullable()
    // The id of the account with which this one shares one allowance; null if it has one itself.
    table.text('shares_with').index()
    table.bigInteger('closed_at')
    // The time of the confirmation; null if the person has not shown that they read mails to the address.
    table.bigInteger('confirmed_at')
  })

  await db.schema.createTable('members', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('user_id').notNullable().references('users.id').index()
    // The role is owner or member.
    table.text('role').notNullable()
    table.bigInteger('created_at').notNullable()
    table.unique(['workspace_id', 'user_id'])
  })
}

// Only the SHA-256 of cookies and links is stored.
async function createSignIn(db: MigrationDb): Promise<void> {
  await db.schema.createTable('sessions', (table) => {
    table.text('id').primary()
    table.text('token_hash').notNullable().unique()
    table.text('user_id').notNullable().references('users.id').index()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_seen_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.text('user_agent').notNullable()
    table.text('address').notNullable()
    // The method is password, password_and_code, passkey or outside.
    table.text('method').notNullable()
  })

  await db.schema.createTable('links', (table) => {
    table.text('id').primary()
    table.text('token_hash').notNullable().unique()
    // The kind is setup, invitation, reset or address.
    table.text('kind').notNullable()
    // An invitation has the workspace and the role.
    table.text('workspace_id').references('workspaces.id').index()
    table.text('role')
    // A reset has the user with the new password; a link to confirm an address, the user who does.
    table.text('user_id').references('users.id')
    // The maker of the link; null for the command line.
    table.text('created_by').references('users.id')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.bigInteger('used_at')
    // The address that the link was mailed to, in lower case; null for a link that was shown, or is over.
    table.text('recipient')
    // The reason that the link's mail could not be delivered.
    table.text('undelivered')
  })
  await db.raw(`CREATE UNIQUE INDEX links_open_invitation ON links (workspace_id, recipient)
    WHERE kind = 'invitation' AND recipient IS NOT NULL AND used_at IS NULL`)

  await db.schema.createTable('passkeys', (table) => {
    // The authenticator's own id of the passkey, in base64url.
    table.text('id').primary()
    table.text('user_id').notNullable().references('users.id').index()
    table.text('public_key').notNullable()
    table.bigInteger('counter').notNullable()
    table.text('transports').notNullable()
    table.text('name').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
  })

  // Identities: people's accounts at outside OpenID providers.
  await db.schema.createTable('identities', (table) => {
    table.text('issuer').notNullable()
    table.text('subject').notNullable()
    table.text('user_id').notNullable().references('users.id').index()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
    table.primary(['issuer', 'subject'])
  })

  // The sources from which each person has signed in, so that a sign-in from elsewhere is noticed.
  await db.schema.createTable('seen_browsers', (table) => {
    table.text('user_id').notNullable().references('users.id')
    // A hash identifies the browser.
    table.text('browser').notNullable()
    table.bigInteger('seen_at').notNullable()
    table.primary(['user_id', 'browser'])
  })
}

async function createSecrets(db: MigrationDb): Promise<void> {
  await db.schema.createTable('second_steps', (table) => {
    table.text('user_id').primary().references('users.id')
    // The secret of the codes, in base32 and sealed.
    table.text('secret').notNullable()
    // The number of the last 30 seconds for which a code was used.
    table.bigInteger('last_counter').notNullable()
    // The number of wrong codes since the last right one.
    table.integer('failures').notNullable()
    table.bigInteger('failed_at')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
  })

  // Recovery codes work once, and are deleted then. Only the hash is stored.
  await db.schema.createTable('recovery_codes', (table) => {
    table.text('user_id').notNullable().references('users.id')
    table.text('code_hash').notNullable()
    table.primary(['user_id', 'code_hash'])
  })

  // Codes, tokens, grants and challenges: each is found by the hash of its secret, and its payload is sealed.
  await db.schema.createTable('records', (table) => {
    table.text('kind').notNullable()
    table.text('id_hash').notNullable()
    table.text('payload').notNullable()
    table.text('grant_id').index()
    table.text('uid').index()
    table.bigInteger('consumed_at')
    table.bigInteger('expires_at').index()
    table.primary(['kind', 'id_hash'])
  })

  // Counts of failed guesses and of registrations.
  await db.schema.createTable('throttles', (table) => {
    table.text('subject').primary()
    table.integer('count').notNullable()
    table.bigInteger('next_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.index(['expires_at'], 'throttles_expiry')
  })
}

/** The longest time between the use of an invitation and the making of its account: a wait for the database in between takes less. */
const JOINS_WITHIN_MS = 60_000
const MOST_LEVELS = 8

/**
 * Puts accounts below their inviters. Earlier versions stored whose allowance an account shares, and not who invited it: accounts invited by guests
 * counted beside their inviters. The use of an invitation and the first time that someone joined its workspace tell who invited. If the operator
 * chose whose allowance it is, or nothing tells, an account stays where it is.
 */
async function placeBelowInviters(db: MigrationDb): Promise<void> {
  const users = await db('users').select('id', 'shares_with').orderBy(['created_at', 'id'])
  const chosen = new Set(await db('audit_trail').where({ event: 'account.allowance_changed' }).pluck('user_id'))
  const inviters = await invitersByLinks(db)
  const paths = new Map<string, string>()
  for (const { id, shares_with: above } of users) {
    const known = above?.includes('/') ? above.split('/').at(-1) : inviters.get(id)
    const below = above === null || chosen.has(id) ? undefined : paths.get(known)?.split('/', MOST_LEVELS).join('/')
    const placed = below?.split('/')[0] === above?.split('/')[0] ? (below ?? above) : above
    paths.set(id, placed === null ? id : `${placed}/${id}`)
    if (placed !== above) await db('users').where({ id }).update({ shares_with: placed })
  }
}

async function invitersByLinks(db: MigrationDb): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .select('users.id', 'links.created_by')
    .from('users')
    .join(
      db
        .select('user_id', 'workspace_id')
        .from('members')
        .union(db.select('user_id', 'workspace_id').from('audit_trail').where({ event: 'member.joined' }))
        .as('joined'),
      'joined.user_id',
      'users.id',
    )
    .join('links', 'links.workspace_id', 'joined.workspace_id')
    .where('links.kind', 'invitation')
    .whereRaw('links.used_at BETWEEN users.created_at AND users.created_at + ?', [JOINS_WITHIN_MS])
    .orderBy('links.used_at', 'desc')
  return new Map(rows.map(({ id, created_by }) => [id, created_by]))
}
