/** A real PgBouncer before the tests' PostgreSQL server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { findProgram } from './programs.ts'

export type PoolMode = 'session' | 'transaction'

/** Undefined where the program is not installed. */
export const PGBOUNCER = findProgram('pgbouncer')

export interface Pooler {
  /** The same database through the pooler. */
  urlOf(databaseUrl: string): string
  remove(): Promise<void>
}

/** @param serverUrl of any database of the server @param size server sessions for each database */
export async function startPgBouncer(serverUrl: string, mode: PoolMode, size: number): Promise<Pooler> {
  const { hostname, port, username, password } = new URL(serverUrl)
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-pgbouncer-'))
  const listening = await freePort()
  const users = join(folder, 'users')
  await writeFile(users, `"${username}" "${password}"\n`)
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listening}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${size}`,
  ]
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, `${settings.join('\n')}\n`)
  for (const path of [folder, users, file]) await chmod(path, 0o755)
  const isRoot = process.getuid?.() === 0
  const program = spawn(PGBOUNCER!, [...(isRoot ? ['-u', 'nobody'] : []), '-q', file], { stdio: 'ignore' })
  while (!(await listens(listening))) {
    if (program.exitCode !== null) throw new Error(`PgBouncer ended with ${program.exitCode}`)
    await setTimeout(20)
  }
  return {
    urlOf(databaseUrl) {
      const url = new URL(databaseUrl)
      url.port = String(listening)
      if (mode === 'transaction') url.searchParams.set('pgbouncer', 'true')
      return url.href
    },
    async remove() {
      const ended = once(program, 'exit')
      program.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
