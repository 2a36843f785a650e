/** What counts as an answer of a check's source, and what does not. */
import { type GuardedRequests, guardRequests, NO_READINGS, type RequestGuard } from '@claimcheck/core/hosting'
import t from 'tap'

const BASE = 'https://api.example.com'
const STATEMENT = {
  port: 5432,
  tls: true,
  protocol: 'postgres',
  statements: [{ name: 'one', text: 'SELECT 1' }],
} as const

interface Place {
  readonly status?: number
  readonly location?: string
  /** Nothing answers. */
  readonly isDown?: boolean
}

function requestsTo(origin: string, place: Place = {}): GuardedRequests {
  const { status = 200, location, isDown = false } = place
  const guard: RequestGuard = {
    timer: new AbortController(),
    now: Date.now,
    origin,
    baseUrl: origin,
    manifest: { hosts: ['*.example.com'], sockets: [STATEMENT], methods: { jsonRpc: ['get'], paths: ['/rpc'] } },
    secrets: new Map([['secret:password', 'a']]),
    userAgent: 'test',
    maxDigestBytes: 1000,
    refused() {},
  }
  let redirects = location === undefined ? 0 : 1
  return guardRequests<object>(guard, {
    admitUrl: (text) => ({ url: new URL(text) }),
    admitSocket: () => ({}),
    async send() {
      if (isDown) throw new TypeError('nobody answers')
      if (redirects-- > 0) return new Response(null, { status: 302, headers: { location: location! } })
      return new Response([204, 304].includes(status) ? null : 'x', { status })
    },
    dial() {
      throw new TypeError('it has no sockets')
    },
    async query() {
      if (isDown) throw new TypeError('nobody answers')
      return {
        rows: [],
        clock: { at: Date.now(), resolutionMs: 1, askedAt: Date.now(), answeredAt: Date.now() },
      } as never
    },
    lookUp: async () => '192.0.2.1',
    createHash: () => ({ update() {}, digest: () => 'x' }) as never,
  })
}

t.test('an answer of any status counts, and what brought none does not', async (t) => {
  for (const status of [200, 204, 301, 304, 401, 404, 500]) {
    const check = requestsTo(BASE, { status })
    await check.fetch(`${BASE}/page`)
    t.equal(check.answers(), 1, `${status}`)
  }
  const several = requestsTo(BASE, { location: '/there' })
  await several.fetch(`${BASE}/page`)
  await several.fetch(`${BASE}/page`, { method: 'HEAD' })
  await several.digest(`${BASE}/page`, { algorithms: ['sha256'] })
  await several.fetch(`${BASE}/rpc`, { call: { jsonRpc: 'get', params: [] } })
  t.equal(several.answers(), 5, 'with the redirect')

  const none = requestsTo(BASE, { isDown: true })
  t.equal(none.answers(), 0)
  await t.rejects(none.fetch(`${BASE}/page`))
  await t.rejects(none.fetch('https://other.example.com/'), 'another origin is not asked')
  await none.resolve(BASE)
  t.equal(none.answers(), 0)
})

t.test('a statement counts, and a program that came back', async (t) => {
  const origin = 'tls://db.example.com:5432'
  const query = { statement: 'one', database: 'd', login: { user: 'u', secret: 'secret:password' } }
  const check = requestsTo(origin)
  await check.query(origin, query)
  t.equal(check.answers(), 1)
  const down = requestsTo(origin, { isDown: true })
  await t.rejects(down.query(origin, query))
  t.equal(down.answers(), 0)

  const git = requestsTo(BASE)
  await t.rejects(git.ask(BASE, () => Promise.reject(new Error('it failed'))))
  t.equal(git.answers(), 0)
  t.equal(await git.ask(BASE, async () => 7), 7)
  t.equal(git.answers(), 1)
  await t.rejects(git.ask('https://other.example.com', async () => 7))
  t.equal(git.answers(), 1)
})

t.test(
  'an answer that was asked for before the check began is not one of it, also where it is handed on',
  async (t) => {
    const asked = async (origin = BASE) => {
      const check = requestsTo(origin)
      await check.fetch(`${origin}/page`)
      return check
    }
    const earlier = await asked()
    const later = requestsTo(BASE)
    later.inherit(earlier.readings())
    t.equal(later.answers(), 0, 'it was kept')

    const joining = requestsTo(BASE)
    const reading = await asked()
    joining.inherit(reading.readings())
    joining.inherit(reading.readings())
    t.equal(joining.answers(), 1, 'it is counted once')
    const third = requestsTo(BASE)
    third.inherit(joining.readings())
    t.equal(third.answers(), 0, 'nor by a third one')

    const elsewhere = requestsTo(BASE)
    elsewhere.inherit((await asked('https://other.example.com')).readings())
    t.equal(elsewhere.answers(), 0, 'it was of another origin')

    joining.again()
    t.equal(joining.answers(), 0, 'a check that is made again has none')
    joining.inherit(NO_READINGS)
    t.equal(joining.answers(), 0)
  },
)

t.test('reads that hand on to each other do not grow without end', async (t) => {
  const first = requestsTo(BASE)
  for (let count = 0; count < 50; count++) {
    const other = requestsTo(BASE)
    for (let request = 0; request < 10; request++) await other.fetch(`${BASE}/page`)
    first.inherit(other.readings())
  }
  t.equal(first.answers(), 100)
})

t.test('beside those of the reads that a check joined, its own count up to the same limit', async (t) => {
  const check = requestsTo(BASE)
  for (let count = 0; count < 2; count++) {
    const other = requestsTo(BASE)
    for (let request = 0; request < 50; request++) await other.fetch(`${BASE}/page`)
    check.inherit(other.readings())
  }
  for (let request = 0; request < 64; request++) await check.fetch(`${BASE}/page`)
  t.equal(check.answers(), 100)
})
