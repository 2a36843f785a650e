/**
 * Requests that cost much before anything is known of who sends them, against the service as it ships: forms of many fields, bodies for
 * pages that do not exist, and a network that asks without end.
 * Threats S5 and S7 of `security.md`.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { Installation } from '../support/installation.ts'

const FORMS = 200
const FIELDS = 16_000
const FORM = Array.from({ length: FIELDS }, (_, index) => index.toString(36)).join('&')
const WAIT_MS = 2000

const installation = await Installation.during(t)
const { port } = new URL(installation.url)

/** What the service answers to the head of a request and the first bytes of a body that never comes whole. */
async function answerTo(head: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text
    if (answer.includes('\r\n\r\n')) socket.destroy()
  })
  socket.on('error', () => {})
  socket.setTimeout(WAIT_MS, () => socket.destroy())
  socket.write(`${head}\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\na=1&`)
  await once(socket, 'close')
  return answer
}

for (const path of ['/console/sign-in/code', '/console/sign-in', '/console/no-such-page']) {
  t.test(`no form of ${FIELDS.toLocaleString('en-US')} fields is read at ${path}`, async (t) => {
    const answers: Record<number, number> = {}
    const send = async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: installation.url }
      const { status } = await installation.request(path, { method: 'POST', headers, body: FORM })
      answers[status] = (answers[status] ?? 0) + 1
    }
    await Promise.all(Array.from({ length: FORMS }, send))
    t.strictSame(answers, path.includes('no-such') ? { 404: FORMS } : { 413: FORMS })
  })
}

for (const [path, type] of [
  ['/console/no-such-page', 'application/x-www-form-urlencoded'],
  ['/console/w/none/no/such/page', 'application/x-www-form-urlencoded'],
  ['/no-such-page', 'application/json'],
  ['/v1/no-such-path', 'application/json'],
  ['/r/a/b/c', 'application/json'],
]) {
  t.test(`${path} is unknown before its body is read`, async (t) => {
    t.match(await answerTo(`POST ${path} HTTP/1.1\r\nContent-Type: ${type}`), /^HTTP\/1\.1 404 /)
  })
}
