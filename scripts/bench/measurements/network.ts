/**
 * Measures what a network that asks at full speed costs a tenant: how much the thread that answers works while a claim of the tenant waits, which
 * is what a quiet machine takes for it. The limits are those that ship.
 */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { claimsOf, type Target, withHost } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { load } from '../load.ts'
import { type Attack, compareWaits } from '../waits.ts'

const CONNECTIONS = 64
const EVERY_MS = 40
const WARM_UP_MS = 3000
/** An address in another network than the tenant's. */
const HOSTILE = '127.0.0.2'
const FORM = Array.from({ length: 16_000 }, (_, index) => index.toString(36)).join('&')

export async function measureNetwork(): Promise<Figure[]> {
  // The tenant's own limits are not what is measured.
  const limits = { key: 0, workspace: 0, account: 0 }
  return withHost({ limits }, async ({ served, target }) => {
    await load({ ...claimsOf(target, 'test.outcome.reach'), connections: 4, durationMs: WARM_UP_MS })
    const attacker = `a network at full speed, ${CONNECTIONS} connections`
    return compareWaits({ served, target, everyMs: EVERY_MS, attacker, begin: () => attack(target) })
  })
}

/** Requests that cost much, as fast as they are answered. */
function attack({ url }: Target): Attack {
  const { hostname, port } = new URL(url)
  const answers: Record<string, number> = {}
  let isOver = false
  let count = 0
  const texts = [
    `POST /console/sign-in/code HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${FORM.length}\r\n\r\n${FORM}`,
    'GET /v1/log/entries?limit=100 HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /console/no/such/page HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n',
    'GET /log HTTP/1.1\r\nhost: x\r\n\r\n',
  ]

  function open(): void {
    if (isOver) return
    const socket = connect({ host: hostname, port: Number(port), localAddress: HOSTILE, noDelay: true })
    const send = () => void socket.write(texts[count++ % texts.length]!)
    let answer = ''
    socket.on('connect', send)
    socket.on('error', () => {})
    socket.on('close', () => void setTimeout(1).then(open))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      const [head, body] = answer.split('\r\n\r\n', 2)
      const length = /\r\ncontent-length: (\d+)/i.exec(head!)?.[1]
      if (body === undefined || body.length < Number(length ?? 0)) return
      const status = answer.slice(9, 12)
      answers[status] = (answers[status] ?? 0) + 1
      answer = ''
      if (isOver) socket.destroy()
      else send()
    })
  }

  for (let index = 0; index < CONNECTIONS; index++) open()
  return {
    stop() {
      isOver = true
      return answers
    },
  }
}
