/** Servers of others that tests start in a folder of their own, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'

const START_MS = 10_000

export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a program until the test ends, and waits until it listens. */
export async function startServer(t: Test, program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part))
  t.teardown(() => ended(child))
  for (const until = Date.now() + START_MS; !(await listens(port)); await setTimeout(50)) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${program} does not listen: ${said}`)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return
  await once(child, 'exit')
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
