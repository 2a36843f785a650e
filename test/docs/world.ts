/** What the pages of documentation speak of, as real services on this machine, and the words that stand for it in the pages. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { transform } from 'esbuild'
import { type Anchoring, startAnchoring } from '../../scripts/demo/anchoring.ts'
import { startGitHub } from '../destinations/forge/github.ts'
import type { StandIn } from '../destinations/forge/stand-in.ts'
import { GitServer } from '../destinations/git-server.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { PageShell } from './page-shell.ts'

/** What `npm start` and the commands find in a checkout. */
const CHECKOUT = [
  ...['package.json', 'tsconfig.base.json', 'claimcheck', 'node_modules'],
  ...['build', 'core', 'plugins', 'scripts', 'server', 'test'],
]
const TOKEN = 'github_pat_example'
const READER = { username: 'reader', password: 'a password' }

export class World {
  readonly folder: string
  readonly #github: StandIn
  readonly #gitServer: GitServer
  readonly #anchoring: Anchoring
  readonly #sha: string
  readonly #port: number
  /** Of `npm run git-server`. */
  readonly #gitPort: number
  readonly #databases = new Map<string, Database>()
  #shell: PageShell | undefined
  #printed = ''
  /** The commit that the git server of this page names. */
  #pushed: string | undefined

  private constructor(parts: {
    folder: string
    github: StandIn
    gitServer: GitServer
    anchoring: Anchoring
    sha: string
    port: number
    gitPort: number
  }) {
    this.folder = parts.folder
    this.#github = parts.github
    this.#gitServer = parts.gitServer
    this.#anchoring = parts.anchoring
    this.#sha = parts.sha
    this.#port = parts.port
    this.#gitPort = parts.gitPort
  }

  static async create(): Promise<World> {
    const [folder, github, gitServer, anchoring, port, gitPort] = await Promise.all([
      mkdtemp(join(tmpdir(), 'claimcheck-docs-')),
      startGitHub(),
      GitServer.start(),
      startAnchoring({ interval_s: 1 }),
      freePort(),
      freePort(),
    ])
    const repository = await github.createRepository('acme/api')
    github.addToken({ token: TOKEN, repositories: [repository] })
    const sha = await repository.commit()
    await repository.push('main', sha)
    await gitServer.createRepository('acme/api', { credentials: READER })

    await Promise.all(CHECKOUT.map((name) => symlink(resolve(name), join(folder, name))))
    const key = (anchoring.plugin.with as { key_file: string }).key_file
    await cp(key, join(folder, 'anchor.key'))
    await writeFile(join(folder, 'token.txt'), TOKEN)
    await writeFile(join(folder, 'password.txt'), READER.password)
    await writeFile(join(folder, 'oidc.secret'), 'a secret that the provider gave out')
    const world = new World({ folder, github, gitServer, anchoring, sha, port, gitPort })
    await world.restore()
    return world
  }

  /** The environment of someone who follows the pages: theirs, and leave to read the services here. */
  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME, XDG_STATE_HOME } = process.env
    const hosts = [this.#github.url, this.#gitServer.url].map((url) => new URL(url).host)
    return {
      PATH,
      HOME,
      XDG_STATE_HOME,
      PORT: String(this.#port),
      GIT_PORT: String(this.#gitPort),
      ALLOW_PRIVATE: hosts.join(','),
      LOG_LEVEL: 'warn',
    }
  }

  /** The configuration of the checkout, which each page begins with. Public repositories are those of the stand-in. */
  async restore(): Promise<void> {
    const file = JSON.parse(await readFile('claimcheck.config.json', 'utf8'))
    file.allow_private = [`127.0.0.1:${this.#gitPort}`]
    file.plugins[0].with = { public_base_url: this.#github.url }
    await this.configure(JSON.stringify(file))
  }

  async configure(text: string): Promise<void> {
    await writeFile(join(this.folder, 'claimcheck.config.json'), text)
  }

  async newPage(): Promise<void> {
    await this.restore()
    if (this.#shell?.isOver) this.#shell = undefined
    await this.#shell?.newPage()
    this.#pushed = undefined
  }

  /** @throws Error when one of the commands fails */
  async run(text: string): Promise<string> {
    this.#shell ??= await PageShell.open(this.folder, this.env)
    let printed = ''
    for (const part of text.split(WHERE_IT_QUOTES)) {
      const own = await this.#shell.run(await this.fill(part))
      this.#printed += own
      this.#pushed = PUSHED.exec(own)?.[1] ?? this.#pushed
      printed += own
    }
    return printed
  }

  /** @param text TypeScript, as a newer Node runs it. @throws Error when it fails */
  async runProgram(text: string): Promise<string> {
    const { code } = await transform(await this.fill(text), { loader: 'ts', format: 'esm' })
    await writeFile(join(this.folder, 'example.mjs'), code)
    return this.run('node example.mjs')
  }

  /** @param text Python. @throws Error when it fails */
  async runPython(text: string): Promise<string> {
    await writeFile(join(this.folder, 'example.py'), await this.fill(text))
    return this.run('PYTHONPATH=core/python PYTHONDONTWRITEBYTECODE=1 python3 example.py')
  }

  /** What a reader puts in the place of words that stand for something of their own. */
  async fill(text: string): Promise<string> {
    const words: [RegExp, () => string][] = [
      [/(?<=^(?:npm ci && )?(?:\w+=\S+ )*)npm start$/gm, () => 'start_service'],
      [/^# stop the server.*$/gm, () => 'stop_service'],
      [/http:\/\/localhost:8080/g, () => `http://localhost:${this.#port}`],
      [/OWNER\/REPO/g, () => 'acme/api'],
      [/^npm run git-server$/gm, () => 'start_git_server'],
      [/127\.0\.0\.1:8081/g, () => `127.0.0.1:${this.#gitPort}`],
      [/40 hexadecimal characters/g, () => this.#pushed ?? this.#sha],
      [/svc_sk_\.\.\./g, () => this.#last(/svc_sk_[\w-]{20,}/g)],
      [/clm_\.\.\./g, () => this.#last(/clm_\w{26}/g)],
      [/rcpt_\.\.\./g, () => this.#last(/rcpt_\w{26}/g)],
      [/https:\/\/github\.example\.com\/api\/v3/g, () => this.#github.url],
      [/https:\/\/git\.example\.com/g, () => this.#gitServer.url],
      [/https:\/\/sepolia\.base\.org/g, () => this.#anchoring.rpcUrl],
      [/"(\/home\/operator\/)?anchor\.key"/g, () => JSON.stringify(join(this.folder, 'anchor.key'))],
    ]
    const filled = words.reduce((text, [pattern, word]) => text.replace(pattern, word), text)
    for (const [, name] of filled.matchAll(DATABASE)) await this.#database(name!)
    return filled.replace(DATABASE, (_, name) => this.#databases.get(name)!.env.DATABASE_URL!)
  }

  async close(): Promise<void> {
    await this.#shell?.close()
    await Promise.all([this.#github.close(), this.#gitServer.close(), this.#anchoring.stop()])
    await Promise.all([...this.#databases.values()].map((database) => database.remove()))
    await rm(this.folder, { recursive: true, force: true })
  }

  /** The newest of what the commands so far have printed. */
  #last(pattern: RegExp): string {
    const found = this.#printed.match(pattern)?.at(-1)
    if (found === undefined) throw new Error(`nothing printed so far fits ${pattern}`)
    return found
  }

  async #database(name: string): Promise<void> {
    if (!this.#databases.has(name)) {
      this.#databases.set(name, await createDatabase('postgres', { isEmpty: true }))
    }
  }
}

/** What the git server of the first claim says. */
const PUSHED = /commit {2,}([0-9a-f]{40}), which/
/** Before a line that repeats what earlier ones have printed. */
const WHERE_IT_QUOTES = /^(?=.*(?:svc_sk|clm|rcpt)_\.\.\.)/m
const DATABASE = /postgres:\/\/user:password@127\.0\.0\.1\/(\w+)/g
