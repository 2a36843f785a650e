import { createHash, createHmac } from 'node:crypto'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createSources } from '@claimcheck/server/workspaces/sources'
import t, { type Test } from 'tap'

const HIDDEN = 'https://git.inner.example'
const sourcesOf = (t: Test, key = 1) =>
  createSources({
    config: { sources: { github: ['https://api.github.com/', 'https://GHE.example:443/api/v3/'], gitlab: [] } },
    secrets: openSecrets({ secretKey: Buffer.alloc(32, key), dataDir: t.testdirName }),
  })
const connection = (id: string, publishesAddress = false) => ({ id, publishesAddress })

t.test('an address that the operator lists is listed, however it is written, and for its provider alone', async (t) => {
  const sources = sourcesOf(t)
  const listed = { provider: 'github', listed: true, baseUrl: 'https://api.github.com' }
  for (const url of ['https://api.github.com', 'https://api.github.com/', 'HTTPS://API.GITHUB.COM:443']) {
    for (const through of [null, connection('conn_1'), connection('conn_1', true)]) {
      t.strictSame(sources.sourceOf('github', url, through), listed, url)
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

t.test(
  'an address that is not listed is published where the connection says so, or the operator configured it',
  async (t) => {
    const sources = sourcesOf(t)
    const published = { provider: 'git', listed: false, baseUrl: HIDDEN }
    t.strictSame(sources.sourceOf('git', `${HIDDEN}/`, connection('conn_1', true)), published)
    t.strictSame(sources.sourceOf('git', HIDDEN, null), published)
  },
)

t.test('an address that is withheld is told by an id, equal for equal reads through one connection', async (t) => {
  const sources = sourcesOf(t)
  const idOf = (url: string, id: string, from = sources) => {
    const source = from.sourceOf('git', url, connection(id))
    t.strictSame(Object.keys(source).sort(), ['listed', 'provider', 'sourceId'])
    return 'sourceId' in source ? source.sourceId : ''
  }
  const id = idOf(HIDDEN, 'conn_1')
  t.match(id, /^[A-Za-z0-9_-]{43}$/)
  t.equal(idOf(`${HIDDEN}/`, 'conn_1', sourcesOf(t)), id, 'on every host')
  t.not(idOf(HIDDEN, 'conn_2'), id)
  t.not(idOf(`${HIDDEN}/other`, 'conn_1'), id)
  t.not(idOf(HIDDEN, 'conn_1', sourcesOf(t, 2)), id, 'under another secret key')
})

t.test('nobody can guess the address from its id without the secret', async (t) => {
  const source = sourcesOf(t).sourceOf('git', HIDDEN, connection('conn_1'))
  const guesses = [HIDDEN, `${HIDDEN}/`, `conn_1${HIDDEN}`, `conn_1 ${HIDDEN}`].flatMap((text) => [
    createHash('sha256').update(text).digest('base64url'),
    createHmac('sha256', 'conn_1').update(text).digest('base64url'),
    createHmac('sha256', '').update(text).digest('base64url'),
  ])
  t.notOk(guesses.includes('sourceId' in source ? source.sourceId : ''))
})
