/** Debian's MariaDB on loopback, with TLS and users with passwords. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from './free-port.ts'
import { findProgram } from './programs.ts'

const run = promisify(execFile)

export interface Mariadb {
  readonly port: number
  /** Runs statements as the administrator. */
  run(...statements: readonly string[]): Promise<readonly unknown[]>
  stop(): Promise<void>
}

/** Why it cannot be started here; undefined where it can. */
export function mariadbProblem(): string | undefined {
  const isThere = ['mariadbd', 'mariadb-install-db'].every((name) => findProgram(name) !== undefined)
  return isThere ? undefined : 'MariaDB is not installed: apt-get install mariadb-server'
}

const START_MS = 20_000

export async function startMariadb({ key, cert }: { readonly key: string; readonly cert: string }): Promise<Mariadb> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-mariadb-'))
  const at = (name: string) => join(folder, name)
  const port = await freePort()
  await writeFile(at('key.pem'), key)
  await writeFile(at('cert.pem'), cert)
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const data = [`--datadir=${at('data')}`, '--innodb-log-file-size=4M', '--innodb-flush-log-at-trx-commit=0']
  await run(findProgram('mariadb-install-db')!, [
    '--no-defaults',
    ...user,
    ...data,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ])
  const server = spawn(
    findProgram('mariadbd')!,
    [
      '--no-defaults',
      ...user,
      ...data,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${at('socket')}`,
      `--pid-file=${at('pid')}`,
      `--log-error=${at('log')}`,
      `--ssl-key=${at('key.pem')}`,
      `--ssl-cert=${at('cert.pem')}`,
      `--secure-file-priv=`,
    ],
    { stdio: 'ignore' },
  )
  async function stop(): Promise<void> {
    if (server.exitCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  }

  async function attempt(statements: readonly string[]): Promise<readonly unknown[]> {
    const admin = await createConnection({ socketPath: at('socket'), user: 'root' })
    try {
      const answers: unknown[] = []
      for (const statement of statements) answers.push((await admin.query(statement))[0])
      return answers
    } finally {
      await admin.end()
    }
  }

  for (let waited = 0; ; waited += 100) {
    try {
      await attempt(['SELECT 1'])
      break
    } catch (error) {
      if (waited < START_MS && server.exitCode === null) await setTimeout(100)
      else {
        const log = await readFile(at('log'), 'utf8').catch(() => '')
        await stop()
        throw new Error(`MariaDB does not start: ${log}`, { cause: error })
      }
    }
  }
  return { port, run: (...statements) => attempt(statements), stop }
}
