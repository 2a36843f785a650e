/** A sparse index of Cargo's, served by a real nginx from a folder of files. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Front } from './front.ts'

export interface CratePublication {
  readonly at?: number
  /** The index says when. */
  readonly isTimed?: boolean
  readonly content?: string
  readonly yanked?: boolean
}

export class SparseIndex {
  readonly front: Front
  readonly #now: () => number
  readonly #folder: string
  readonly #stop: () => Promise<void>

  private constructor(front: Front, now: () => number, folder: string, stop: () => Promise<void>) {
    this.front = front
    this.#now = now
    this.#folder = folder
    this.#stop = stop
  }

  static async start(nginx: string, now: () => number = Date.now): Promise<SparseIndex> {
    const base = await mkdtemp(join(tmpdir(), 'sparse-index-'))
    const folder = join(base, 'index')
    await mkdir(folder)
    await writeFile(join(folder, 'config.json'), JSON.stringify({ dl: 'https://static.example/crates', api: null }))
    const socketPath = join(base, 'nginx.sock')
    await writeFile(join(base, 'nginx.conf'), configuration(base, folder, socketPath))
    const child = spawn(nginx, ['-p', base, '-c', join(base, 'nginx.conf'), '-e', join(base, 'error.log')], {
      stdio: 'ignore',
    })
    for (let waited = 0; !existsSync(socketPath) && waited < 5000; waited += 10) await setTimeout(10)
    const front = await Front.start({ behind: { socketPath }, now })
    return new SparseIndex(front, now, folder, async () => {
      await front.close()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await rm(base, { recursive: true, force: true })
    })
  }

  get url(): string {
    return this.front.url
  }

  close(): Promise<void> {
    return this.#stop()
  }

  /** As if the crate had never been published. */
  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, pathOf(name.toLowerCase())), { force: true })
  }

  /** A line as it is. */
  async append(name: string, line: string): Promise<void> {
    const path = join(this.#folder, pathOf(name.toLowerCase()))
    await mkdir(dirname(path), { recursive: true })
    await appendFile(path, `${line}\n`)
  }

  /** @returns the SHA-256 of the file in hexadecimal */
  async publish(name: string, version: string, publication: CratePublication = {}): Promise<string> {
    const { at = this.#now(), isTimed = true, content = `${name} ${version}`, yanked = false } = publication
    const cksum = createHash('sha256').update(content).digest('hex')
    const pubtime = `${new Date(at).toISOString().slice(0, 19)}Z`
    const line = { name, vers: version, deps: [], cksum, features: {}, yanked, ...(isTimed && { pubtime }) }
    await this.append(name, JSON.stringify(line))
    return cksum
  }
}

function pathOf(name: string): string {
  if (name.length < 3) return join(String(name.length), name)
  if (name.length === 3) return join('3', name[0]!, name)
  return join(name.slice(0, 2), name.slice(2, 4), name)
}

function configuration(base: string, folder: string, socketPath: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
master_process off;
pid ${base}/nginx.pid;
events { worker_connections 128; }
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${base}/${kind};`).join('\n  ')}
  server {
    listen unix:${socketPath};
    root ${folder};
    default_type text/plain;
  }
}
`
}
