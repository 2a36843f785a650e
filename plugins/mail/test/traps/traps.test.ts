// Test run: slow
/** The trap table of `mail.message.send`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-mail'
import { playTable } from '../../../../test/traps/verifier-table.ts'
import { PRIVATE } from './account.ts'
import { DOVECOT } from './dialects.ts'
import { FALSE } from './false.ts'
import { HEADERS } from './headers.ts'
import { HONEST } from './honest.ts'
import { startImap } from './imap-server.ts'
import { MAILBOXES } from './mailboxes.ts'
import { AGENT, CLIENT, connected, PASSWORD, type Row, SECOND, START, USER } from './row.ts'
import { SERVERS } from './servers.ts'
import { TIMES } from './times.ts'

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...HONEST, ...FALSE, ...SERVERS, ...TIMES, ...HEADERS, ...MAILBOXES],
  play,
  check(t, { scene }, { life, faults }) {
    t.strictSame([...new Set(faults)], [], 'commands are as the server announces them, and only read')
    const kept = JSON.stringify([life.records, life.log])
    const secrets = [...Object.values(PRIVATE), CLIENT, PASSWORD]
    const isNamed = JSON.stringify(scene().params).includes(CLIENT)
    for (const secret of secrets) if (!isNamed) t.notOk(kept.includes(secret), 'no read keeps what the message says')
  },
})

async function play(row: Row) {
  const scene = row.scene()
  const {
    dialect,
    claimedMs = 0,
    submittedMs = claimedMs + SECOND,
    deadlineMs,
    troubles,
    password = () => PASSWORD,
  } = scene
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const place = { account: scene.account, dialect: dialect ?? DOVECOT, user: USER, password, now: clock.now, troubles }
  const imap = await startImap(place)
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: 'imap', options: connected(scene) as never },
      destination: imap.url,
      claim: {
        action: 'mail.message.send',
        target: scene.target ?? AGENT,
        params: scene.params as never,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return {
      life: { ...life, requests: imap.asked },
      submittedAt,
      faults: imap.faults,
    }
  } finally {
    await imap.close()
  }
}
