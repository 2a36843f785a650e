// Test run: end-to-end, alone, slow
/** Streams of events behind each proxy, while one host after the other starts again: nothing is lost, and nothing comes twice. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type Host, Installation } from '../support/installation.ts'
import { NAME, PROXIES, RunningProxy } from './proxy.ts'

const RETRY_MS = 100

/** A listener that goes on where it was, whichever host answers it. */
function listen(proxy: RunningProxy, key: string) {
  const heard: { id: string; claim: string }[] = []
  const state = { last: '', connections: 0, isOver: false, stop: () => {} }
  async function goOn(): Promise<void> {
    while (!state.isOver) {
      let text = ''
      const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'last-event-id': state.last }
      const { ended, stop } = proxy.stream('/v1/events', headers, (piece) => {
        const parts = (text + piece).split('\n\n')
        text = parts.pop()!
        for (const part of parts) {
          state.last = /^id: (\d+)$/m.exec(part)?.[1] ?? state.last
          const data = /^data: (.*)$/m.exec(part)?.[1]
          if (/^retry: /m.test(part)) state.connections++
          if (data !== undefined) heard.push({ id: state.last, claim: JSON.parse(data).data.claim_id })
        }
      })
      state.stop = stop
      await ended
      await setTimeout(RETRY_MS)
    }
  }
  const over = goOn()
  return {
    heard,
    state,
    async stop() {
      state.isOver = true
      state.stop()
      await over
    },
  }
}

async function submit(proxy: RunningProxy, key: string, number: number): Promise<string> {
  const body = JSON.stringify({
    client_claim_id: `streamed-${number}`,
    agent_id: 'agent-1',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (;;) {
    const answer = await proxy.ask('/v1/claims', { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.status === 202) return JSON.parse(answer.text).claim_id
    await setTimeout(RETRY_MS)
  }
}

for (const one of PROXIES) {
  const skip = one.program === undefined && `${one.name} is not installed`
  t.test(`behind ${one.name}, a listener hears of every claim while both hosts start again`, { skip }, async (t) => {
    const ports = [String(await freePort()), String(await freePort())] as const
    const installation = await Installation.during(t, {
      database: await createDatabase('postgres'),
      env: { PORT: ports[0], PUBLIC_URL: `https://${NAME}`, TRUST_PROXY: '127.0.0.1' },
    })
    const hosts: Host[] = [installation.host, await installation.addHost({ DATA_DIR: 'data-2', PORT: ports[1] })]
    const { key } = await installation.client('acme')
    const proxy = await RunningProxy.start(one, [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`])
    t.teardown(() => proxy.stop())
    const listener = listen(proxy, key)
    t.teardown(() => listener.stop())
    while (listener.state.connections === 0) await setTimeout(20)

    const submitted: string[] = []
    let restarting = true
    const restarts = (async () => {
      for (const host of [...hosts, ...hosts]) {
        await setTimeout(500)
        await host.stop()
        await setTimeout(300)
        await host.start()
      }
      restarting = false
    })()
    for (let number = 0; restarting || number < 100; number++) submitted.push(await submit(proxy, key, number))
    await restarts
    for (const end = Date.now() + 20_000; listener.heard.length < submitted.length && Date.now() < end; )
      await setTimeout(20)

    t.strictSame(
      listener.heard.map(({ id }) => Number(id)),
      submitted.map((_, index) => index + 1),
    )
    t.strictSame(listener.heard.map(({ claim }) => claim).toSorted(), submitted.toSorted())
    t.ok(listener.state.connections > 1, `${listener.state.connections} connections`)
    t.comment(`${submitted.length} claims, ${listener.state.connections} connections, none lost`)
  })
}
