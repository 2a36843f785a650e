/** Takes an image through a life: it starts, verifies a claim, stops by SIGTERM, and goes on with the same volume. */
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { Agent } from '../../test/destinations/agent.ts'
import { GitServer } from '../../test/destinations/git-server.ts'
import { freePort } from '../../test/support/free-port.ts'
import type { Engine } from './engine.ts'

const NAME = 'claimcheck-image-trial'
const VOLUMES = ['data', 'head-memory'].map((folder) => ({ name: `${NAME}-${folder}`, path: `/${folder}` }))
const START_MS = 30_000
/** The time that the engine waits before it kills. */
const STOP_S = 20
const TARGET = 'acme/api'

type Say = (step: string) => void

/** @throws Error that says which step failed. */
export async function tryImage(engine: Engine, image: string, say: Say): Promise<void> {
  const git = await GitServer.start(0)
  const agent = await Agent.create()
  const port = await freePort()
  await remove(engine)
  try {
    await git.createRepository(TARGET)
    const sha = await agent.commit({ message: 'Add the endpoint' })
    await agent.push(`${git.url}/${TARGET}.git`, sha, 'main')
    await engine.start([...options(port, new URL(git.url).host), image])
    await isHealthy(engine)
    say('starts and is healthy, read-only, as user 10001, without capabilities')
    await isConfined(engine)
    say('can write nothing but /data, /head-memory and /tmp')
    const receipt = await claim(engine, { git, sha, port })
    say(`verifies a claim: ${receipt}`)
    await stops(engine, say)
    await engine.run(['start', NAME])
    await isHealthy(engine)
    const answer = await fetch(`http://127.0.0.1:${port}/v1/receipts/${receipt}`)
    assert.equal(answer.status, 200, 'the receipt is there after a restart')
    assert.match(await inside(engine, ['claimcheck', 'doctor']), /No problems: 1 receipt/)
    say('starts again with the receipt, and doctor finds no problems')
  } catch (error) {
    console.error(await engine.run(['logs', NAME]).catch(() => 'it has no log'))
    throw error
  } finally {
    await remove(engine)
    await agent.close()
    await git.close()
  }
}

/** Options to run the image as the page on containers says, in the network of this machine, where the git server is. */
function options(port: number, privateHost: string): readonly string[] {
  const env = { HOST: '127.0.0.1', PORT: port, ALLOW_PRIVATE: privateHost }
  return [
    `--name=${NAME}`,
    '--network=host',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--ulimit=nofile=16384:16384',
    '--ulimit=nproc=8192:8192',
    '--tmpfs=/tmp',
    ...VOLUMES.map(({ name, path }) => `--volume=${name}:${path}`),
    ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
  ]
}

/** Waits for the image's own health check. */
async function isHealthy(engine: Engine): Promise<void> {
  const check = JSON.parse(await engine.run(['inspect', '--format', '{{json .Config.Healthcheck.Test}}', NAME]))
  const [form, ...command] = check as string[]
  assert.equal(form, 'CMD')
  for (const end = Date.now() + START_MS; ; await setTimeout(250)) {
    const failure = await inside(engine, command).then(
      () => undefined,
      (error) => error as Error,
    )
    if (!failure) return
    if (Date.now() > end) throw new Error('it is not healthy', { cause: failure })
  }
}

async function isConfined(engine: Engine): Promise<void> {
  assert.equal(await inside(engine, ['id', '-u']), '10001')
  assert.match(await inside(engine, ['cat', '/proc/1/status']), /^CapEff:\s0+$/m)
  for (const path of ['/app', '/etc/claimcheck', '/usr/local/bin']) {
    await assert.rejects(inside(engine, ['touch', `${path}/new`]), /Read-only file system/)
  }
  for (const path of ['/data', '/head-memory', '/tmp']) await inside(engine, ['touch', `${path}/new`])
}

interface Pushed {
  readonly git: GitServer
  readonly sha: string
  readonly port: number
}

/** Returns the receipt's id. */
async function claim(engine: Engine, { git, sha, port }: Pushed): Promise<string> {
  await inside(engine, ['claimcheck', 'workspace', 'create', 'acme'])
  const { key } = JSON.parse(await inside(engine, ['claimcheck', 'key', 'create', '--workspace', 'acme', '--json']))
  const connection = ['--workspace', 'acme', '--try', TARGET, '--set', `base_url=${git.url}`]
  await inside(engine, ['claimcheck', 'connection', 'add', 'git', ...connection])
  const answer = await fetch(`http://127.0.0.1:${port}/v1/claims`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      client_claim_id: 'image-1',
      agent_id: 'image',
      action: 'codehost.commit.push',
      target: TARGET,
      params: { sha, branch: 'main' },
      claimed_at: new Date().toISOString(),
    }),
  })
  const body = (await answer.json()) as { verdict?: string; receipt_id: string }
  assert.equal(body.verdict, 'verified', JSON.stringify(body))
  return body.receipt_id
}

async function stops(engine: Engine, say: Say): Promise<void> {
  const startedAt = performance.now()
  await engine.run(['stop', '--time', String(STOP_S), NAME])
  const seconds = (performance.now() - startedAt) / 1000
  assert.equal(await engine.run(['inspect', '--format', '{{.State.ExitCode}}', NAME]), '0', 'it ends with 0')
  assert.ok(seconds < STOP_S, 'it was not killed')
  say(`ends by SIGTERM with 0, within ${seconds.toFixed(1)} s`)
}

function inside(engine: Engine, command: readonly string[]): Promise<string> {
  return engine.run(['exec', NAME, ...command])
}

/** Removes what this trial or an earlier one left. */
async function remove(engine: Engine): Promise<void> {
  await engine.run(['rm', '--force', NAME]).catch(() => undefined)
  for (const { name } of VOLUMES) await engine.run(['volume', 'rm', '--force', name]).catch(() => undefined)
}
