/** Debian's nginx as a web server, behind a front that speaks TLS and tells the test's time: files, redirects, limits, a cache, and what else sites are made of. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Identity } from './certificates.ts'
import { Front } from './front.ts'

const PROGRAMS = ['nginx', '/usr/sbin/nginx']

/** Undefined where it is not installed. */
function findProgram(): string | undefined {
  return PROGRAMS.find((program) => {
    try {
      execFileSync(program, ['-v'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

export class Nginx {
  readonly #folder: string
  readonly #process: ChildProcess
  readonly #front: Front

  private constructor(folder: string, process: ChildProcess, front: Front) {
    this.#folder = folder
    this.#process = process
    this.#front = front
  }

  /** Of https. */
  get port(): number {
    return this.#front.port
  }

  /** Undefined where nginx is not installed. @param upstream the port of a server of plain HTTP, for what it passes on */
  static async start(identity: Identity, upstream: number, now: () => number): Promise<Nginx | undefined> {
    const program = findProgram()
    if (program === undefined) return undefined
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-nginx-'))
    const port = await freePort()
    writeFileSync(join(folder, 'users'), '')
    mkdirSync(join(folder, 'www'))
    writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstream))
    const process = spawn(program, ['-p', folder, '-c', 'nginx.conf', '-e', join(folder, 'error.log')], {
      stdio: 'inherit',
    })
    const nginx = new Nginx(folder, process, await Front.start({ behind: { port }, now, identity }))
    await nginx.#listening(port)
    return nginx
  }

  /** A file of the site with this name. */
  put(host: string, path: string, content: string | Uint8Array): void {
    const file = this.#file(host, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  /** A file below `/zip/`, of which it has only the compressed form. */
  putCompressed(host: string, path: string, content: Uint8Array): void {
    this.put(host, `${path}.gz`, gzipSync(content))
  }

  remove(host: string, path: string): void {
    rmSync(this.#file(host, path))
  }

  async close(): Promise<void> {
    await this.#front.close()
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await exit
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #file(host: string, path: string): string {
    return join(this.#folder, 'www', host, path)
  }

  async #listening(port: number): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      if (this.#process.exitCode !== null) break
      const socket = connect(port, '127.0.0.1')
      const isOpen = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false)
      socket.destroy()
      if (isOpen) return
      await sleep(20)
    }
    throw new Error('nginx did not start')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

function configuration(folder: string, port: number, upstream: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ')
  // As root, its workers would be another user, who may not read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `${user}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary}
  proxy_cache_path ${folder}/cache keys_zone=copies:1m;
  limit_req_zone $host zone=few:1m rate=1r/m;
  # It knows neither the scheme nor the port by which it is asked.
  absolute_redirect off;
  server {
    listen 127.0.0.1:${port};
    server_name *.nginx.example;
    root ${folder}/www/$host;
    location / {
      if (-f ${folder}/www/$host/down) { return 503; }
      try_files $uri $uri/ =404;
    }
    location /gone/ { return 410; }
    location /app/ { try_files $uri /app/index.html; }
    location /few/ { limit_req zone=few; limit_req_status 429; }
    location /members/ { auth_basic "members"; auth_basic_user_file ${folder}/users; }
    location /no-head/ { if ($request_method = HEAD) { return 404; } }
    location /zip/ { gzip_static always; gunzip off; }
    location /slow/ { limit_rate 100; }
    location /down/ { proxy_pass http://127.0.0.1:1; }
    location /copies/ {
      proxy_pass http://127.0.0.1:${upstream};
      proxy_cache copies;
      proxy_cache_valid any 1h;
      proxy_cache_bypass $http_cache_control;
    }
  }
}
`
}
