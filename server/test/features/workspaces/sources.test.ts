import { createHash, createHmac } from 'node:crypto'
import { createSources } from '@claimcheck/server/features/workspaces/sources'
import t from 'tap'

const SHIPPED = {
  package: '@claimcheck/plugin',
  version: '1.0.0',
  codeHash: `sha256:${'0'.repeat(64)}`,
  isShipped: true,
}
const HIDDEN = 'https://git.inner.example'
const sourcesOf = () =>
  createSources({
    config: { sources: { github: ['https://api.github.com/', 'https://GHE.example:443/api/v3/'], gitlab: [] } },
  })
const connection = (key: number, publishesAddress = false) => ({ publishesAddress, sourceKey: Buffer.alloc(32, key) })

t.test('an address that the operator lists is listed, however it is written, and for its provider alone', async (t) => {
  const sources = sourcesOf()
  const listed = { provider: 'github', listed: true, baseUrl: 'https://api.github.com' }
  for (const url of ['https://api.github.com', 'https://api.github.com/', 'HTTPS://API.GITHUB.COM:443']) {
    for (const through of [null, connection(1), connection(1, true)]) {
      t.strictSame(sources.sourceOf('github', url, through, SHIPPED), listed, url)
    }
  }
  t.ok(sources.isListed('github', 'https://ghe.example/api/v3'))
  const unlisted: [provider: string, url: string][] = [
    ['gitlab', 'https://api.github.com'],
    ['unknown', 'https://api.github.com'],
    ['__proto__', 'https://api.github.com'],
    ['github', 'http://api.github.com'],
    ['github', 'https://api.github.com:444'],
    ['github', 'https://api.github.com/sub'],
    ['github', 'https://api.github.com.evil.example'],
    ['github', 'https://ghe.example/api'],
    ['github', 'https://ghe.example/api/v3?x'],
    ['github', 'https://user@api.github.com'],
  ]
  for (const [provider, url] of unlisted) t.notOk(sources.isListed(provider, url), `${provider} ${url}`)
})

t.test('an unlisted address is published where the connection says so, or the operator configured it', async (t) => {
  const sources = sourcesOf()
  const published = { provider: 'git', listed: false, baseUrl: HIDDEN }
  t.strictSame(sources.sourceOf('git', `${HIDDEN}/`, connection(1, true), SHIPPED), published)
  t.strictSame(sources.sourceOf('git', HIDDEN, null, SHIPPED), published)
})

t.test('an address that is withheld is told by an id, equal for equal reads through one connection', async (t) => {
  const sources = sourcesOf()
  const idOf = (url: string, key: number, from = sources) => {
    const source = from.sourceOf('git', url, connection(key), SHIPPED)
    t.strictSame(Object.keys(source).sort(), ['listed', 'provider', 'sourceId'])
    return 'sourceId' in source ? source.sourceId : ''
  }
  const id = idOf(HIDDEN, 1)
  t.match(id, /^[A-Za-z0-9_-]{43}$/)
  t.equal(idOf(`${HIDDEN}/`, 1, sourcesOf()), id, 'on every host')
  t.not(idOf(HIDDEN, 2), id)
  t.not(idOf(`${HIDDEN}/other`, 1), id)
})

t.test('nobody can guess the address from its id without the secret', async (t) => {
  const source = sourcesOf().sourceOf('git', HIDDEN, connection(1), SHIPPED)
  const guesses = [HIDDEN, `${HIDDEN}/`, `conn_1${HIDDEN}`, `conn_1 ${HIDDEN}`].flatMap((text) => [
    createHash('sha256').update(text).digest('base64url'),
    createHmac('sha256', 'conn_1').update(text).digest('base64url'),
    createHmac('sha256', '').update(text).digest('base64url'),
  ])
  t.notOk(guesses.includes('sourceId' in source ? source.sourceId : ''))
})

t.test(
  'a listed address is listed for the plugins that come with the server, and those that are named for it',
  async (t) => {
    const url = 'https://tickets.example'
    const plugin = { package: '@acme/plugin', version: '1.2.0', codeHash: `sha256:${'A'.repeat(43)}` }
    const acme = { package: '@acme/plugin', version: '1.2.0', codeHash: `sha256:${'0'.repeat(64)}` }
    const named = (readers: Partial<typeof plugin>[]) =>
      createSources({
        config: {
          sources: { tickets: [url, `${url}/other`] },
          sourceReaders: readers.map((one) => ({
            provider: 'tickets',
            url,
            plugin: { package: '@acme/plugin', ...one },
          })),
        },
      })
    t.ok(named([]).isListedFor(SHIPPED, 'tickets', url))
    t.notOk(named([]).isListedFor(acme, 'tickets', url))
    t.strictSame(named([]).sourceOf('tickets', url, null, acme), { provider: 'tickets', listed: false, baseUrl: url })
    for (const reader of [{}, { version: '1.2.0' }, plugin]) t.ok(named([reader]).isListedFor(acme, 'tickets', url))
    for (const reader of [{ package: '@acme/other' }, { version: '1.2.1' }, { codeHash: `sha256:${'B'.repeat(43)}` }]) {
      t.notOk(named([reader]).isListedFor(acme, 'tickets', url), JSON.stringify(reader))
    }
    t.notOk(named([plugin]).isListedFor(acme, 'tickets', `${url}/other`), 'for that address alone')
    t.strictSame(named([plugin]).listed('tickets', acme), [url])
    t.strictSame(named([plugin]).listed('tickets', SHIPPED), [url, `${url}/other`])
  },
)
