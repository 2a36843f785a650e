/** Where to report a weakness: a file that programs look for, where the operator says whom to tell. Threat S6 of `security.md`. */
import t, { type Test } from 'tap'
import { startApp } from './support/server.ts'

const NOW = Date.parse('2026-03-04T05:06:07Z')
const PATH = '/.well-known/security.txt'

async function served(t: Test, publicUrl?: string) {
  const app = await startApp({
    securityContact: 'mailto:security@example.com',
    now: () => NOW,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  })
  t.teardown(app.close)
  return app
}

t.test('the contact is served with a date until which it holds, and with its own address', async (t) => {
  const app = await served(t, 'https://claims.example.com')
  const { status, headers, text } = await app.ask(PATH)
  t.equal(status, 200)
  t.equal(headers['content-type'], 'text/plain; charset=utf-8')
  t.equal(
    text,
    [
      'Contact: mailto:security@example.com',
      'Expires: 2026-06-02T00:00:00.000Z',
      'Canonical: https://claims.example.com/.well-known/security.txt',
      '',
    ].join('\n'),
  )
  t.match(await app.ask(PATH, { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('an address without https is not named, whatever host was asked for', async (t) => {
  for (const publicUrl of [undefined, 'http://claims.example.com']) {
    const app = await served(t, publicUrl)
    const { text } = await app.ask(PATH, { headers: { host: 'evil.example' } })
    t.notMatch(text, /Canonical|evil/)
  }
})

t.test('without a contact there is no such file', async (t) => {
  const app = await startApp()
  t.teardown(app.close)
  t.equal((await app.ask(PATH)).status, 404)
})
