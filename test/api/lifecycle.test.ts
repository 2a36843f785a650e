// Test run: slow
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createClient } from '@claimcheck/client'
import t from 'tap'
import { CLAIMCHECK, runClaimcheck } from '../support/command.ts'
import { LONG } from '../support/extent.ts'
import { Installation, NO_LIMITS, NO_QUOTAS, SCRIPTED } from '../support/installation.ts'

const TOLERANCE_MS = 10 * 60_000
const ENOUGH = 20

t.test('a queued claim is looked at again after a restart, and decided by the whole history', async (t) => {
  const installation = await Installation.during(t)
  const client = await installation.client('restart')
  const claimedAt = Date.now() + 500 - TOLERANCE_MS
  const { body } = await client.submit({
    params: { see: 'absent' },
    claimed_at: new Date(claimedAt).toISOString(),
    deadline_at: new Date(claimedAt + TOLERANCE_MS + 1500).toISOString(),
  })
  t.match(body, { state: 'queued', attempts: 1 })
  await installation.stop()
  await installation.resume()
  const status = await client.decided(body.claim_id)
  t.match(status, { verdict: 'failed', reason_code: 'not_found' })
  t.ok(status.attempts >= 2)
})

t.test('stopping finishes the checks that are under way', async (t) => {
  const installation = await Installation.during(t, { file: { checks: { timeout_ms: 1000, first_answer_ms: 100 } } })
  const client = await installation.client('stopping')
  const { body } = await client.submit({ params: { see: 'hang' } })
  t.equal(body.attempts, 0)
  await installation.stop()
  await installation.resume()
  t.match((await client.get(`/v1/claims/${body.claim_id}`)).body, { attempts: 1, last_check: { code: 'timeout' } })
})

t.test('a verifier that hangs costs only its own check', async (t) => {
  const installation = await Installation.during(t, { file: { checks: { timeout_ms: 1500, first_answer_ms: 1500 } } })
  const client = await installation.client('hanging')
  const hanging = client.submit({ params: { see: 'hang' } })
  for (let i = 0; i < 5; i++) t.match(await client.submit(), { body: { verdict: 'verified' } })
  t.match(await hanging, { status: 202, body: { state: 'queued' } })
})

t.test('more claims than can be checked at once are taken, and checked in turn', LONG, async (t) => {
  const checks = { timeout_ms: 800, first_answer_ms: 3000, concurrency: 1 }
  const installation = await Installation.during(t, { file: { checks } })
  const client = await installation.client('many')
  const hanging = Array.from({ length: 4 }, () => client.submit({ params: { see: 'hang' } }))
  await new Promise((done) => setTimeout(done, 200))
  const { body } = await client.submit()
  t.match(body, { state: 'queued', attempts: 0 })
  t.match(await client.decided(body.claim_id), { verdict: 'verified' })
  t.ok((await Promise.all(hanging)).every(({ status }) => status === 202))
})

/** `claimcheck serve` in its own process. */
async function serve(folder: string): Promise<{ child: ChildProcess; url: string; setupUrl: string }> {
  const child = spawn(process.execPath, [CLAIMCHECK, 'serve', '--json'], {
    cwd: folder,
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout!, 'data')
  const { url, setup_url: setupUrl } = JSON.parse(String(line))
  return { child, url, setupUrl }
}

async function command(folder: string, ...args: string[]) {
  const { code, stdout } = await runClaimcheck(folder, [...args, '--json'])
  return { code, output: JSON.parse(stdout) }
}

t.test(
  'after SIGTERM under load every claim that was acknowledged is there, and every receipt that was named',
  LONG,
  async (t) => {
    const folder = t.testdir()
    writeFileSync(
      join(folder, 'claimcheck.config.json'),
      JSON.stringify({ plugins: [SCRIPTED], rate_limits: NO_LIMITS, quotas: NO_QUOTAS }),
    )
    const first = await serve(folder)
    t.equal((await fetch(first.setupUrl)).status, 200, 'it prints the link that sets it up')
    await command(folder, 'workspace', 'create', 'load')
    const { key } = (await command(folder, 'key', 'create', '--workspace', 'load')).output
    const client = createClient({ baseUrl: first.url, key, retryForMs: 0 })

    const acknowledged: { claim_id: string; receipt_id: string | null }[] = []
    let stopped = false
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      for (let i = 0; !stopped; i++) {
        const claim = {
          client_claim_id: `${sender}-${i}`,
          agent_id: 'agent',
          action: 'test.outcome.reach',
          target: 'somewhere',
          params: { see: i % 3 === 0 ? 'absent' : 'present' },
          claimed_at: new Date().toISOString(),
        }
        // Refused connections are no acknowledgement.
        const status = await client.submit(claim).catch(() => undefined)
        if (status) acknowledged.push(status)
        else stopped = true
      }
    })
    await new Promise((done) => setTimeout(done, 300))
    // On a slow machine that is not long enough for many.
    while (!stopped && acknowledged.length <= ENOUGH) await new Promise((done) => setTimeout(done, 20))
    first.child.kill('SIGTERM')
    const [code] = await once(first.child, 'exit')
    stopped = true
    await Promise.all(senders)
    t.equal(code, 0)
    t.ok(acknowledged.length > ENOUGH, `${acknowledged.length} claims were acknowledged`)

    const second = await serve(folder)
    const after = createClient({ baseUrl: second.url, key })
    const kept = await Promise.all(
      acknowledged.map(async ({ claim_id, receipt_id }) => {
        const status = await after.claim(claim_id)
        if (receipt_id !== null) await after.receipt(receipt_id)
        return receipt_id === null || status.receipt_id === receipt_id
      }),
    )
    t.ok(kept.every(Boolean))
    t.match((await command(folder, 'doctor')).output, { ok: true, problems: [], notices: [] })
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')
  },
)

/** A connection that sends this, and what it was answered until it ended. */
function sending(url: string, bytes: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(bytes)
  return { socket, answered: () => text(socket).catch(() => 'reset') }
}

t.test('after SIGTERM it waits a moment for what arrives, and for the answers that it owes', LONG, async (t) => {
  const folder = t.testdir()
  const checks = { timeout_ms: 10_000, first_answer_ms: 6000 }
  const file = { plugins: [SCRIPTED], rate_limits: NO_LIMITS, quotas: NO_QUOTAS, checks }
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
  const { child, url } = await serve(folder)
  t.teardown(() => child.kill('SIGKILL'))
  await command(folder, 'workspace', 'create', 'acme')
  const { key } = (await command(folder, 'key', 'create', '--workspace', 'acme')).output
  const post = (body: object, length = JSON.stringify(body).length) =>
    `POST /v1/claims HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
  const claim = {
    agent_id: 'agent',
    action: 'test.outcome.reach',
    target: 'somewhere',
    claimed_at: new Date().toISOString(),
  }
  const present = { ...claim, client_claim_id: 'present', params: { see: 'present' } }
  const hanging = { ...claim, client_claim_id: 'hanging', params: { see: 'hang' } }

  const stalled = [
    '',
    'POST /v1/cl',
    'POST /v1/claims HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{',
    `${post(claim, 5000)}{`,
    `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n${post(claim)}{`,
  ].map((bytes) => sending(url, bytes).answered())
  const checked = sending(url, post(hanging) + JSON.stringify(hanging)).answered()
  const body = JSON.stringify(present)
  const slow = sending(url, post(present) + body.slice(0, 30))
  const slowAnswer = slow.answered()
  await new Promise((done) => setTimeout(done, 500))
  const before = performance.now()
  child.kill('SIGTERM')
  setTimeout(() => slow.socket.write(body.slice(30)), 1000)
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  t.ok(performance.now() - before < 15_000, `it ended after ${Math.round(performance.now() - before)} ms`)
  t.match(await slowAnswer, /^HTTP\/1\.1 202 [\s\S]*"verified"/, 'a request that was on its way')
  t.match(await checked, /^HTTP\/1\.1 202 [\s\S]*"queued"/, 'a claim whose check took longer than requests may')
  t.notMatch((await Promise.all(stalled)).join(), / 202 /)
})
