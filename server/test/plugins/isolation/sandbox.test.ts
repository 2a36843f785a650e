// Test run: end-to-end, slow
/** The sandbox around the process of a plugin. Threat P1 of `security.md`. */
import { execFile, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Isolation } from '@claimcheck/core/sandbox/command'
import { isolationProblem, readingProblem } from '@claimcheck/core/sandbox/problems'
import { startSandboxed } from '@claimcheck/core/sandbox/sandbox'
import t, { type Test } from 'tap'
import { IS_THOROUGH } from '../../../../test/support/extent.ts'
import type { Outcome, Run } from './host.ts'

const execute = promisify(execFile)
const HOST = resolve('build/server/test/plugins/isolation/host.js')
/** As root of most containers. */
const WITHOUT_SYS_ADMIN = ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin']
/** As in a container that allows no user namespaces: below this one, that is. */
const WITHOUT_NAMESPACES = [
  ...['unshare', '--user', '--map-root-user', 'sh', '-c'],
  'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"',
]
/** The threads of a process of Node, with those of its pool. */
const THREADS = 12
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

interface User {
  readonly name: string
  /** What stands before a command that runs as this user. */
  readonly before: readonly string[]
  readonly problem: string | undefined
}

/** Whoever runs the tests, and a plain user as well when that is root. */
async function users(): Promise<readonly User[]> {
  const own: User = { name: 'this user', before: [], problem: await isolationProblem() }
  if (process.getuid?.() !== 0) return [own]
  return [
    { ...own, name: 'root' },
    { name: 'a plain user', before: NOBODY, problem: await problemOf(NOBODY) },
    { name: 'root without SYS_ADMIN', before: WITHOUT_SYS_ADMIN, problem: await problemOf(WITHOUT_SYS_ADMIN) },
  ]
}

async function problemOf(before: readonly string[]): Promise<string | undefined> {
  const module = JSON.stringify(import.meta.resolve('@claimcheck/core/sandbox/problems'))
  const script = `const { isolationProblem } = await import(${module}); console.log((await isolationProblem()) ?? '')`
  try {
    const { stdout } = await execute(before[0]!, [...before.slice(1), process.execPath, '-e', script], { cwd: '/' })
    return stdout.trim() === '' ? undefined : stdout.trim()
  } catch (error) {
    return (error as Error).message
  }
}

async function outcomes({ before }: User, runs: readonly Run[]): Promise<readonly Outcome[]> {
  // Whoever starts a service may leave it a handle by mistake, and a mask that keeps others out of what it makes.
  const shell = ['/bin/sh', '-c', 'umask 077; exec "$0" "$@" 9</etc/passwd']
  const [file, ...args] = [...before, ...shell, process.execPath, HOST, JSON.stringify(runs)]
  const { stdout } = await execute(file!, args, { cwd: '/', maxBuffer: 2 ** 24 })
  return JSON.parse(stdout)
}

const PRELUDE = `import * as fs from 'node:fs'
import * as net from 'node:net'
const channel = new net.Socket({ fd: 3 })
const say = (text) => channel.write(text + '\\n')
/** What stands in the way. */
const attempt = async (name, work) => {
  try {
    await work()
    say(name + ': done')
  } catch (error) {
    say(name + ': ' + (error.code ?? error.message))
  }
}
`

/** A package that a process may read, and a folder beside it that it may not. */
function folders(t: Test, code: string): { readonly entry: string; readonly root: string; readonly secret: string } {
  const base = t.testdir()
  const root = join(base, 'plugin')
  const secret = join(base, 'data/key')
  mkdirSync(root)
  mkdirSync(join(base, 'data'))
  writeFileSync(secret, 'secret')
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, 'index.js'), `${PRELUDE}${code}\nchannel.end()\n`)
  return { root, secret, entry: join(root, 'index.js') }
}

function runOf(
  { entry, root }: { readonly entry: string; readonly root: string },
  others: Partial<Run> & { readonly isolation: Isolation },
): Run {
  return { entry, readable: { packages: [root], files: [], links: [] }, ...others }
}

for (const user of await users()) {
  const skip = user.problem === undefined ? false : `${user.name} cannot isolate here: ${user.problem}`

  t.test(
    `a sandboxed process of ${user.name} has no environment, and no handle but what it was given`,
    { skip },
    async (t) => {
      const code = `say(JSON.stringify({ env: process.env, cwd: process.cwd(), pid: process.pid, args: process.argv.slice(2) }))
      const kinds = []
      for (let handle = 0; handle < 64; handle++) {
        try {
          const found = fs.fstatSync(handle)
          if (found.isFile() || found.isDirectory()) kinds.push('file ' + handle)
          else if (found.isSocket()) kinds.push('socket ' + handle)
        } catch {}
      }
      say(JSON.stringify(kinds))`
      const run = runOf(folders(t, code), { isolation: 'full', args: ['one', 'two words'] })
      const [outcome] = await outcomes(user, [run])
      const [about, handles] = outcome!.said.split('\n').map((line) => line && JSON.parse(line))
      t.strictSame(about, { env: {}, cwd: '/', pid: 1, args: ['one', 'two words'] })
      t.strictSame(handles, ['socket 1', 'socket 2', 'socket 3'])
      t.equal(outcome!.code, 0)
    },
  )

  t.test(`a sandboxed process of ${user.name} reads its package, and nothing of the host`, { skip }, async (t) => {
    const paths = [
      '/etc/passwd',
      `/proc/${process.pid}/environ`,
      '/proc/self/environ',
      '/tmp',
      '/sys/kernel',
      '/root',
      '/home',
    ]
    const code = `const [secret, own, ...paths] = process.argv.slice(2)
      await attempt('own', () => fs.readFileSync(own))
      for (const path of [secret, new URL('link', import.meta.url), ...paths]) await attempt('outside', () => {
        // The folder of the package stands below /tmp, perhaps: of what is beside it, nothing is there.
        if (String(path) === '/tmp' && fs.readdirSync(path).length <= 1) throw new Error('empty')
        fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path)
      })
      await attempt('writing', () => fs.writeFileSync(own, 'other'))
      await attempt('writing', () => fs.writeFileSync('/new', 'other'))
      await attempt('writing', () => fs.writeFileSync('/dev/new', 'other'))`
    const made = folders(t, code)
    symlinkSync(made.secret, join(made.root, 'link'))
    const args = [made.secret, made.entry, ...paths]
    const runs = [false, true].map((isWithoutPermissions) =>
      runOf(made, { isolation: 'full', args, isWithoutPermissions }),
    )
    for (const { said } of await outcomes(user, runs)) {
      t.match(said, /^own: done$/m)
      t.notMatch(said, /^(outside|writing): done$/m)
      t.equal([...said.matchAll(/^outside: (ENOENT|ERR_ACCESS_DENIED|empty)$/gm)].length, paths.length + 2, said)
      t.equal([...said.matchAll(/^writing: (EROFS|EACCES|ERR_ACCESS_DENIED)$/gm)].length, 3, said)
    }
  })

  t.test(`a sandboxed process of ${user.name} starts nothing and loads no native module`, { skip }, async (t) => {
    const code = `const { spawnSync } = await import('node:child_process')
      const { Worker } = await import('node:worker_threads')
      await attempt('process', () => spawnSync('/usr/bin/env'))
      await attempt('worker', () => new Worker('0', { eval: true }))
      await attempt('native', () => process.dlopen({ exports: {} }, '/nothing.node'))`
    const [outcome] = await outcomes(user, [runOf(folders(t, code), { isolation: 'full' })])
    for (const what of ['process', 'worker']) t.match(outcome!.said, new RegExp(`^${what}: ERR_ACCESS_DENIED$`, 'm'))
    t.match(outcome!.said, /^native: ERR_DLOPEN_DISABLED$/m)
  })

  t.test(`a sandboxed process of ${user.name} has no network, and cannot signal the host`, { skip }, async (t) => {
    const connections: string[] = []
    async function listening(name: string, path?: string): Promise<Server> {
      const server = createServer((socket) => {
        connections.push(name)
        socket.destroy()
      })
      server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path })
      await once(server, 'listening')
      t.teardown(() => server.close())
      return server
    }
    const code = `const { createSocket } = await import('node:dgram')
      const [port, udpPort, path, abstract, host] = process.argv.slice(2)
      const connect = (to) => new Promise((done, fail) => net.connect(to).on('connect', done).on('error', fail))
      await attempt('tcp', () => connect({ port: Number(port), host: '127.0.0.1' }))
      await attempt('path', () => connect({ path }))
      await attempt('abstract', () => connect({ path: '\\0' + abstract }))
      const send = (to) => new Promise((done, fail) => createSocket('udp4').on('error', fail).send('x', to, '127.0.0.1', (error) => error ? fail(error) : done()))
      await attempt('udp', () => send(Number(udpPort)))
      await attempt('outside', () => connect({ port: 443, host: '1.1.1.1' }))
      await attempt('signal', () => process.kill(Number(host), 0))
      setImmediate(() => process.exit())`
    const made = folders(t, code)
    const udp = createSocket('udp4').on('message', () => connections.push('udp'))
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    t.teardown(() => udp.close())
    // A path that has room in the address of a socket.
    const path = `/tmp/claimcheck-${process.pid}-${Math.random().toString(36).slice(2)}`
    const abstract = path.slice(1)
    const tcp = await listening('tcp')
    await listening('path', path)
    await listening('abstract', `\0${abstract}`)
    const { port } = tcp.address() as AddressInfo
    const args = [port, udp.address().port, path, abstract, process.pid].map(String)
    const runs = [false, true].map((isWithoutPermissions) =>
      runOf(made, { isolation: 'full', args, isWithoutPermissions }),
    )
    for (const { said } of await outcomes(user, runs)) {
      for (const what of ['tcp', 'path', 'abstract', 'udp', 'outside', 'signal']) {
        t.match(
          said,
          new RegExp(`^${what}: (ENETUNREACH|EADDRNOTAVAIL|ECONNREFUSED|ENOENT|ESRCH|ERR_ACCESS_DENIED)$`, 'm'),
        )
      }
    }
    t.strictSame(connections, [])
  })

  t.test(`a sandboxed process of ${user.name} signals no process but its own`, { skip }, async (t) => {
    const code = `const [id, signal] = process.argv.slice(2)
      await attempt('signal', () => process.kill(Number(id), signal))
      setImmediate(() => process.exit())`
    const made = folders(t, code)
    const ids = [0, -1, 1, process.pid, -process.pid, process.ppid, -process.ppid]
    const sent = ids.flatMap((id) => ['SIGKILL', 'SIGTERM', 'SIGUSR1', 'SIGHUP'].map((signal) => [`${id}`, signal]))
    const runs = sent.map((args) => runOf(made, { isolation: 'full', args, isWithoutPermissions: true }))
    // With a bystander in the group of the host, as another plugin's process, and time to see a signal come.
    const beside = `sleep 60 & bystander=$!; "$0" "$@" && kill $bystander && exit 0; exit 1`
    const [file, ...args] = [...user.before, '/bin/sh', '-c', beside, process.execPath, HOST, JSON.stringify(runs)]
    const { stdout, stderr } = await execute(file!, args, { cwd: '/', maxBuffer: 2 ** 24 })
    t.equal(stderr, '', 'no signal opened the inspector')
    const outcomes: readonly Outcome[] = JSON.parse(stdout)
    t.equal(outcomes.length, sent.length)
  })

  // The limits are those of the others.
  if (!IS_THOROUGH && user.before === WITHOUT_SYS_ADMIN) continue

  const hogs: [what: string, code: string][] = [
    ['objects', 'for (;;) kept.push(new Array(10_000).fill({}))'],
    ['buffers', 'for (;;) try { kept.push(Buffer.alloc(1e6, 1)) } catch {}'],
    ['shared buffers', 'for (;;) try { kept.push(new Uint8Array(new SharedArrayBuffer(1e6)).fill(1)) } catch {}'],
    [
      'memories of WebAssembly',
      'for (;;) { const { buffer } = new WebAssembly.Memory({ initial: 16 }); kept.push(new Uint8Array(buffer).fill(1)) }',
    ],
  ]
  for (const isolation of ['full', 'open'] as const) {
    // One each, where there are two users.
    if (!IS_THOROUGH && user.name !== 'this user' && (user.name === 'root') !== (isolation === 'full')) continue
    t.test(`a process of ${user.name} that hoards memory ends, ${isolation}`, { skip }, async (t) => {
      const code = `const kept = []\n${hogs.map(([what, hog]) => `if (process.argv[2] === '${what}') ${hog}`).join('\n')}`
      const made = folders(t, code)
      const ended = await outcomes(
        user,
        hogs.map(([what]) => runOf(made, { isolation, args: [what] })),
      )
      for (const [index, { printed, code, signal }] of ended.entries()) {
        t.match(printed, /out of memory|allocation|allocate|bad_alloc/i, hogs[index]![0])
        t.not(code, 0)
        t.not(signal, 'SIGKILL')
      }
    })
  }

  t.test(`a process of ${user.name} gets the same memory from every version of Node`, { skip }, async (t) => {
    const code = `const kept = []
      for (;;) {
        kept.push(Buffer.alloc(1024 * 1024, 1))
        fs.writeSync(1, '.')
      }`
    const [{ printed }] = (await outcomes(user, [runOf(folders(t, code), { isolation: 'full' })])) as [Outcome]
    const mebibytes = /^\.*/.exec(printed)![0].length
    t.ok(mebibytes >= 128 && mebibytes <= 384, `${mebibytes} MiB of buffers`)
  })

  for (const isolation of ['full', 'open'] as const) {
    t.test(`a process of ${user.name} that loops dies with its killed host, ${isolation}`, { skip }, async (t) => {
      const made = folders(t, 'for (;;) {}')
      const mark = `loop-${process.pid}-${Math.random().toString(36).slice(2)}`
      const runs = JSON.stringify([runOf(made, { isolation, args: [mark] })])
      const host = spawn([...user.before, process.execPath][0]!, [
        ...[...user.before, process.execPath].slice(1),
        HOST,
        runs,
      ])
      const isLooping = () => commands().some((args) => args[0]?.endsWith('node') === true && args.at(-1) === mark)
      await until(isLooping)
      host.kill('SIGKILL')
      await until(() => !isLooping())
      t.pass('it is gone')
    })
  }
}

t.test('an open process keeps the permission model, the empty environment and, under root, another user', async (t) => {
  const problem = await isolationProblem('open')
  if (problem !== undefined) return void t.comment(`skipped: ${problem}`)
  const code = `await attempt('outside', () => fs.readFileSync(process.argv[2]))
    await attempt('passwd', () => fs.readFileSync('/etc/passwd'))
    await attempt('process', async () => (await import('node:child_process')).spawnSync('/usr/bin/env'))
    say(JSON.stringify(process.env) + ' ' + process.getuid())`
  const made = folders(t, code)
  const [outcome] = await outcomes({ name: '', before: [], problem }, [
    runOf(made, { isolation: 'open', args: [made.secret] }),
  ])
  for (const what of ['outside', 'passwd', 'process'])
    t.match(outcome!.said, new RegExp(`^${what}: ERR_ACCESS_DENIED$`, 'm'))
  t.match(outcome!.said, `{} ${process.getuid!() || 65534}\n`)
})

t.test('a thousand processes, which are one user under root, may have their threads', async (t) => {
  const problem = await isolationProblem()
  if (problem !== undefined) return void t.comment(`skipped: ${problem}`)
  const made = folders(t, 'say(String(process.report.getReport().userLimits.max_user_processes.soft))')
  for (const isolation of ['full', 'open'] as const) {
    const [outcome] = await outcomes({ name: '', before: [], problem }, [runOf(made, { isolation })])
    t.ok(Number(outcome!.said) >= 1000 * THREADS, outcome!.said)
  }
})

t.test('a process starts where the system allows fewer threads, as on small machines', async (t) => {
  const made = folders(t, 'say(String(process.report.getReport().userLimits.max_user_processes.soft))')
  for (const isolation of ['full', 'open'] as const) {
    const problem = await isolationProblem(isolation)
    if (problem !== undefined) t.comment(`skipped: ${problem}`)
    else {
      const user = { name: '', before: ['prlimit', '--nproc=8000:8000'], problem }
      t.equal((await outcomes(user, [runOf(made, { isolation })]))[0]!.said, '8000\n', isolation)
    }
  }
})

t.test('packages find each other by links, isolated and open', async (t) => {
  const base = t.testdir({
    plugin: {
      'package.json': '{ "type": "module" }',
      'index.js': "import { word } from '@far/away'\nprocess.stdout.write(word)",
    },
    shop: {
      away: { 'package.json': '{ "type": "module", "exports": "./a.js" }', 'a.js': "export const word = 'found'" },
    },
    node_modules: { '@far': {} },
  })
  const link = { path: join(base, 'node_modules/@far/away'), target: join(base, 'shop/away') }
  symlinkSync('../../shop/away', link.path)
  const readable = { packages: [join(base, 'plugin'), link.target], files: [], links: [link] }
  for (const isolation of ['full', 'open'] as const) {
    const problem = await isolationProblem(isolation)
    if (problem !== undefined) t.comment(`skipped: ${problem}`)
    else {
      const run = { entry: join(base, 'plugin/index.js'), readable, isolation }
      const [outcome] = await outcomes({ name: '', before: [], problem }, [run])
      t.equal(outcome!.printed, 'found')
    }
  }
})

t.test('a path with a star is refused: Node would read it as all that begins like it', async (t) => {
  const readable = { packages: ['/tmp/pl*'], files: [], links: [] }
  t.throws(() => startSandboxed({ entry: '/tmp/entry.js', readable, isolation: 'full' }), /star/)
})

t.test('a system that does not allow it is reported, with what the operator can do', async (t) => {
  if (process.getuid?.() !== 0) return void t.comment('skipped: this is not root')
  t.match(await problemOf([...WITHOUT_NAMESPACES, ...WITHOUT_SYS_ADMIN]), /unshare.*SYS_ADMIN.*user namespaces/)
})

t.test('under root, a package that others cannot read is reported', async (t) => {
  if (process.getuid?.() !== 0) return void t.comment('skipped: this is not root')
  const base = t.testdir({ open: { 'a.js': '' }, closed: { open: { 'a.js': '' } } })
  chmodSync(join(base, 'closed'), 0o700)
  chmodSync(join(base, 'closed/open/a.js'), 0o600)
  const problem = (path: string, isolation: Isolation, file?: string) =>
    readingProblem({ packages: [join(base, path)], files: file === undefined ? [] : [join(base, file)] }, isolation)
  t.equal(await problem('open', 'full'), undefined)
  t.match(await problem('closed', 'full'), /chmod/)
  t.equal(await problem('closed/open', 'full'), undefined)
  t.match(await problem('closed/open', 'open'), /chmod/)
  t.match(await problem('open', 'full', 'closed/open/a.js'), /a\.js/)
})

/** The arguments of all processes that this user can see. */
function commands(): readonly (readonly string[])[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
      } catch {
        return []
      }
    })
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 600) throw new Error('it does not come about')
    await setTimeout(50)
  }
}
