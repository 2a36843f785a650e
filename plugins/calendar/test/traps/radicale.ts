/** A real Radicale as a plain process on loopback, with files of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../../test/support/free-port.ts'
import { AUDITOR, AUDITOR_PASSWORD, OWNER, PASSWORD } from './caldav-server.ts'

const PROGRAM = 'radicale'
const WAIT_MS = 50
const MOST_WAITS = 200

/** The reason that no Radicale can be started; undefined if one can. */
export function radicaleProblem(): string | undefined {
  try {
    const version = execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' })
    return /^3\./.test(version.trim()) ? undefined : `radicale ${version.trim()} is another version`
  } catch {
    return 'radicale is not installed'
  }
}

export interface Radicale {
  readonly url: string
  stop(): Promise<void>
}

/** @param rights rules beside that of the owner, in the form of Radicale's file of rights */
export async function startRadicale(rights = ''): Promise<Radicale> {
  const folder = mkdtempSync(join(tmpdir(), 'radicale-'))
  const port = await freePort()
  writeFileSync(join(folder, 'users'), `${OWNER}:${PASSWORD}\n${AUDITOR}:${AUDITOR_PASSWORD}\n`)
  const owner = '[owner]\nuser: .+\ncollection: {user}(/.*)?\npermissions: RWrw\n'
  writeFileSync(join(folder, 'rights'), owner + rights)
  const settings = {
    server: { hosts: `127.0.0.1:${port}` },
    auth: { type: 'htpasswd', htpasswd_filename: join(folder, 'users'), htpasswd_encryption: 'plain', delay: '0' },
    rights: { type: 'from_file', file: join(folder, 'rights') },
    storage: { filesystem_folder: join(folder, 'data') },
    web: { type: 'none' },
  }
  const lines = Object.entries(settings).flatMap(([section, values]) => [
    `[${section}]`,
    ...Object.entries(values).map(([name, value]) => `${name} = ${value}`),
  ])
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`)
  const child = spawn(PROGRAM, ['--config', join(folder, 'config')], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await listening(url, child)
  return {
    url,
    async stop() {
      if (child.exitCode === null) {
        child.kill()
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function listening(url: string, child: ChildProcess): Promise<void> {
  for (let wait = 0; wait < MOST_WAITS; wait++) {
    if (child.exitCode !== null) throw new Error(`radicale ended with ${child.exitCode}`)
    if (await fetch(url, { redirect: 'manual' }).catch(() => undefined)) return
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
  throw new Error('radicale does not answer')
}
