/** Prism between a test and a host: it holds each answer against the API description that the host serves. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const PRISM = resolve('test/tools/openapi/node_modules/@stoplight/prism-cli/dist/index.js')
const START_MS = 30_000

export interface ValidatingProxy {
  readonly url: string
  /** @throws Error for an answer that is not as described */
  examine(path: string, init: RequestInit, response: Response): void
  stop(): Promise<void>
}

export async function startValidatingProxy(host: string): Promise<ValidatingProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-prism-'))
  const file = join(folder, 'openapi.json')
  await writeFile(file, await (await fetch(`${host}/openapi.json`)).text())
  const port = await freePort()
  // Not --errors, by which it would answer wrong requests itself: what the service answers to them is held against its description, too.
  const prism = spawn(process.execPath, [PRISM, 'proxy', file, host, '--port', String(port)], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  for (const end = Date.now() + START_MS; ; await setTimeout(100)) {
    const answers = await fetch(`${url}/healthz`).catch(() => undefined)
    if (answers) break
    if (Date.now() > end || prism.exitCode !== null) throw new Error('prism did not start')
  }
  return {
    url,
    examine(path, { method = 'GET' }, { status, headers }) {
      const found = JSON.parse(headers.get('sl-violations') ?? '[]') as readonly Violation[]
      const ofAnswer = found.filter(({ location }) => location[0] === 'response')
      if (ofAnswer.length > 0)
        throw new Error(`NOT AS DESCRIBED: ${method} ${path} ${status}: ${JSON.stringify(ofAnswer)}`)
    },
    async stop() {
      prism.kill()
      if (prism.exitCode === null && prism.signalCode === null) await once(prism, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Violation {
  readonly location: readonly string[]
  readonly message: string
}
