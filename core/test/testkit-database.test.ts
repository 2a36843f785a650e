// Test run: end-to-end, slow
/** The conformance kit at a database: a plugin that reads a declared statement in a real Postgres, and what can go wrong on the way. */
import {
  type ActionProfile,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { type Destination, runConformance } from '@claimcheck/core/testkit'
import pg from 'pg'
import t from 'tap'
import { sharedPostgresUrl } from '../../test/support/postgres.ts'
import { profile } from './bad-plugins/good.ts'
import { NOON, type Situation, TICKETS } from './bad-plugins/tracker.ts'

const PLACE = 'tls://tickets.example.com:5432'
const SECRET = 'tracker-pass-0123456789abcdef'
const ROLE = `reader_${process.pid}`
const GUEST = `guest_${process.pid}`

interface Options {
  readonly user: string
  readonly password: string
}

const verifier = defineVerifier({
  profile: profile as unknown as ActionProfile,
  providers: ['tickets'],
  normalize: ({ target, params }) => ({
    target,
    params: { resolution: String((params as { resolution: string }).resolution).toLowerCase() },
  }),
  async check({ target, params }, { query, connection }) {
    const { user, password } = connection!.options as unknown as Options
    const { rows } = await query(PLACE, {
      statement: 'ticket',
      parameters: { number: Number(target.split('-')[1]) },
      database: 'postgres',
      login: { user, secret: password },
    })
    const [row] = rows
    if (!row) return { kind: 'absent', facts: { project_id: 17 } }
    const [resolution, closedAt] = row
    if (resolution === null) return { kind: 'absent', facts: { project_id: 17, state: 'open' } }
    const at = Number(closedAt)
    const facts = { project_id: 17, state: 'closed', closed_at: new Date(at).toISOString() }
    const stays = [{ appeared: { notBefore: at, notAfter: at } }]
    if (resolution !== (params as { resolution: string }).resolution)
      return { kind: 'present', facts, differs: ['resolution'] }
    return { kind: 'present', facts, differs: [], stays }
  },
})

const plugin = definePlugin({
  name: 'tickets',
  api: 3,
  manifest: {
    hosts: ['tickets.example.com'],
    sockets: [
      {
        port: 5432,
        tls: true,
        protocol: 'postgres',
        statements: [
          {
            name: 'ticket',
            text: `SELECT resolution, extract(epoch FROM closed_at)::bigint * 1000 FROM ${ROLE}.tickets WHERE number = $1`,
            parameters: ['number'],
          },
        ],
      },
    ],
  },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    verifiers: [verifier],
    connections: [
      defineConnectionType({
        provider: 'tickets',
        title: 'Tickets',
        help: 'Make a role that can only read.',
        options: Type.Object(
          { user: Type.String(), password: secret({ description: 'A password.' }) },
          { additionalProperties: false },
        ),
        baseUrl: () => PLACE,
        fits: () => true,
        async probe({ user, password }, { query }) {
          const login = { user, secret: password }
          await query(PLACE, { statement: 'ticket', parameters: { number: 0 }, database: 'postgres', login })
          return { proves: 'works', scopes: [], warnings: [] }
        },
      }),
    ],
  }),
})

const admin = new pg.Client(await sharedPostgresUrl())
await admin.connect()
t.teardown(async () => {
  await admin.query(`DROP SCHEMA ${ROLE} CASCADE; DROP ROLE ${ROLE}; DROP ROLE ${GUEST}`)
  await admin.end()
})
await admin.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${SECRET}'; CREATE ROLE ${GUEST} LOGIN PASSWORD '${SECRET}';
  CREATE SCHEMA ${ROLE};
  CREATE TABLE ${ROLE}.tickets (number int, resolution text, closed_at timestamptz);
  GRANT USAGE ON SCHEMA ${ROLE} TO ${ROLE}; GRANT SELECT ON ${ROLE}.tickets TO ${ROLE}`)

const database: Destination<Situation, undefined> = {
  start: async () => ({ url: `tcp://127.0.0.1:${new URL(await sharedPostgresUrl()).port}`, stop() {} }),
  async set(situation) {
    const ticket = TICKETS[situation]
    await admin.query(`DELETE FROM ${ROLE}.tickets`)
    if (!ticket) return undefined
    const at = ticket.events.find(({ kind }) => kind === 'closed')?.at ?? null
    await admin.query(`INSERT INTO ${ROLE}.tickets VALUES (7, $1, $2)`, [ticket.resolution, at])
    return undefined
  },
}

t.test('a verifier of a database passes, with each answer struck by each fault', async (t) => {
  const claim = { target: 'ACME-7', params: { resolution: 'fixed' }, claimedAt: NOON }
  const { ok, checks, untested } = await runConformance({
    plugin,
    connection: { provider: 'tickets', options: { user: ROLE, password: SECRET } },
    unprivileged: { provider: 'tickets', options: { user: GUEST, password: SECRET } },
    destination: database,
    before: 'open',
    cases: [
      { name: 'closed', situation: 'closed', claim, sees: { kind: 'present' }, verdict: 'verified' },
      { name: 'open', situation: 'open', claim, sees: { kind: 'absent' }, verdict: 'failed' },
    ],
  })
  t.strictSame(
    checks.filter(({ ok }) => !ok),
    [],
  )
  t.ok(ok, untested.join())
  const faults = new Set(checks.map(({ name }) => name).filter((name) => name.startsWith('fault.socket')))
  t.equal(faults.size, 7)
})
