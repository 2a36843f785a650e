// Test run: end-to-end, slow, every-node
/** `claimcheck-plugin test`: the package of a stranger runs in the sandbox. Threat P10 of `security.md`. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { IS_THOROUGH } from './support/extent.ts'
import { inPackage, kit, PROGRAM, packageOf } from './support/kit.ts'

const SECRET = 'a-secret-of-the-caller'
const skip = (await isolationProblem('loopback')) ?? false
const EXAMPLE = resolve('plugins/example')

t.setTimeout(180_000)
// Their processes have nothing in common.
t.jobs = 2

t.test('an honest package that brings a server passes', { skip }, async (t) => {
  const { code, stdout, stderr } = await kit(EXAMPLE)
  t.equal(code, 0, stderr)
  t.match(stdout, /^The plugin passes: \d{3} checks\.\n/)
  t.equal(stderr, '')
})

const DEEDS = `import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { spawnSync } from 'node:child_process'
import { Worker } from 'node:worker_threads'
const { home, port, name, pid } = JSON.parse(fs.readFileSync('asked.json', 'utf8'))
const attempt = async (what, work) => {
  try {
    console.log(what + ': done ' + ((await work()) ?? ''))
  } catch (error) {
    console.log(what + ': ' + (error.cause?.code ?? error.code ?? error.message))
  }
}
const connect = (to) => new Promise((done, fail) => net.connect(to).on('connect', () => done()).on('error', fail))
await attempt('own server', async () => {
  const server = http.createServer((_, response) => response.end('of its own')).listen(0, '127.0.0.1')
  await new Promise((done) => server.on('listening', done))
  return (await fetch('http://127.0.0.1:' + server.address().port)).text()
})
await attempt('own file', () => JSON.parse(fs.readFileSync(new URL('package.json', import.meta.url))).type)
await attempt('key', () => fs.readFileSync(home + '/.ssh/id_ed25519', 'utf8'))
await attempt('passwd', () => fs.readFileSync('/etc/passwd', 'utf8').length)
await attempt('neighbour', () => fs.readFileSync('../neighbour', 'utf8'))
await attempt('write', () => fs.writeFileSync('made', ''))
await attempt('write in tmp', () => fs.writeFileSync('/tmp/' + name, ''))
await attempt('program', () => { const { error, status } = spawnSync('/bin/sh', ['-c', 'exit 0']); if (error) throw error; return status })
await attempt('thread', () => new Worker('0', { eval: true }).terminate())
await attempt('listener', () => connect({ port, host: '127.0.0.1' }))
await attempt('unix listener', () => connect({ path: '\\0' + name }))
await attempt('outside', () => connect({ port: 443, host: '1.1.1.1' }))
await attempt('signal', () => process.kill(pid, 0))
await attempt('code of a text', () => new Function('return 1')())
await attempt('module of a text', async () => (await import('data:text/javascript,export default 1')).default)
console.log('environment: ' + JSON.stringify(process.env))
process.exit(7)`

t.test('a package reads, writes, starts and reaches nothing of the caller', { skip }, async (t) => {
  const base = packageOf(t, DEEDS)
  const folder = join(base, 'package')
  const home = join(base, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true })
  writeFileSync(join(home, '.ssh/id_ed25519'), SECRET)
  writeFileSync(join(base, 'neighbour'), SECRET)
  const name = `claimcheck-kit-${process.pid}-${Math.random().toString(36).slice(2)}`
  let connections = 0
  const servers = [{ port: 0, host: '127.0.0.1' }, { path: `\0${name}` }].map((at) =>
    createServer(() => ++connections).listen(at),
  )
  t.teardown(() => servers.map((server) => server.close()))
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')))
  const { port } = servers[0]!.address() as AddressInfo
  writeFileSync(join(folder, 'asked.json'), JSON.stringify({ home, port, name, pid: process.pid }))
  const env = { HOME: home, CLAIMCHECK_API_KEY: SECRET }
  const { code, stdout, stderr } = await kit(folder, [], env)
  t.match({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /^The kit could not run: the process ended with 7 before there was a report\.$/m)
  t.match(stderr, /^ {2}\| own server: done of its own$/m)
  t.match(stderr, /^ {2}\| own file: done module$/m)
  t.match(stderr, /^ {2}\| environment: \{\}$/m)
  const rows = [...stderr.matchAll(/^ {2}\| ([\w ]+): (.*)$/gm)]
    .slice(2, -1)
    .map(([, what, how]) => [what!, how!] as const)
  t.equal(rows.length, 13, stderr)
  for (const [what, how] of rows)
    t.match(
      how,
      /^(ERR_ACCESS_DENIED|ENOENT|EROFS|ECONNREFUSED|ENETUNREACH|a plugin in the sandbox acts on no process|ERR_WORKER_.*|Code generation from strings.*|.*code of its files only|ERR_MANIFEST_.*)$/,
      what,
    )
  t.notMatch(stderr, SECRET)
  t.equal(connections, 0)
  t.notOk(existsSync(join(folder, 'made')) || existsSync(`/tmp/${name}`))

  const trusted = await kit(folder, ['--trusted'], env)
  t.match(trusted, { code: 2, stderr: /^The code of the package runs with your rights, without a sandbox/ })
  for (const what of [
    'key',
    'neighbour',
    'write',
    'program',
    'thread',
    'listener',
    'unix listener',
    'signal',
    'code of a text',
  ])
    t.match(trusted.stderr, new RegExp(`^ {2}\\| ${what}: done`, 'm'), `the attempt is real: ${what}`)
  t.match(trusted.stderr, SECRET, 'the environment, too')
  t.equal(connections, 2)
})

const HOGS: readonly (readonly [what: string, code: string])[] = [
  ['objects', 'for (;;) kept.push(new Array(10_000).fill({}))'],
  ['buffers', 'for (;;) kept.push(Buffer.alloc(1e6, 1))'],
]

for (const [what, hog] of HOGS) {
  t.test(`a package that fills memory with ${what} ends alone`, { skip }, async (t) => {
    const { code, stdout, stderr } = await kit(inPackage(t, `const kept = []\n${hog}`))
    t.match({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, /The kit could not run: (?:the process ended with|.*(?:allocation failed|failed to allocate))/is)
    t.match(stderr, /out of memory|allocation failed|failed to allocate/i)
  })
}

/** Processes with this among their arguments. */
function running(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}

async function untilGone(mark: string): Promise<readonly string[]> {
  for (let tries = 0; tries < 100 && running(mark).length > 0; tries++) await sleep(50)
  return running(mark)
}

for (const [what, code] of [
  ['waits', 'setInterval(() => {}, 1000)\nawait new Promise(() => {})'],
  ['loops', 'for (;;) {}'],
] as const) {
  t.test(`a package that ${what} for ever ends at the time limit, with all of it`, { skip }, async (t) => {
    const folder = inPackage(t, code)
    const outcome = await kit(folder, ['--timeout', '2'])
    t.match(outcome, { code: 2, stdout: '', stderr: 'The kit could not run: it took too long.\n' })
    t.strictSame(await untilGone(folder), [])
  })
}

t.test('a package that waits ends with a command that is killed', { skip }, async (t) => {
  const folder = inPackage(t, 'console.log("it waits")\nsetInterval(() => {}, 1000)\nawait new Promise(() => {})')
  for (const [args, signal] of [
    [[], 'SIGKILL'],
    [['--trusted'], 'SIGTERM'],
    [['--trusted'], 'SIGKILL'],
  ] as const) {
    const command = spawn(process.execPath, [PROGRAM, 'test', folder, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    for await (const line of command.stderr) if (String(line).includes('it waits')) break
    command.kill(signal)
    t.strictSame(await untilGone(folder), [], `${args} ${signal}`)
  }
})

t.test('the time limit ends what a trusted package started', async (t) => {
  const folder = inPackage(
    t,
    `import { spawn } from 'node:child_process'
    spawn('/bin/sh', ['-c', 'sleep 600; true', process.argv[2]], { stdio: 'inherit' })
    await new Promise(() => {})`,
  )
  const outcome = await kit(folder, ['--trusted', '--timeout', '2'])
  t.match(outcome, { code: 2, stderr: /it took too long\.\n$/ })
  t.strictSame(await untilGone(folder), [])
})

t.test('a package that blocks its process ends before the time limit', { skip: skip || !IS_THOROUGH }, async (t) => {
  const { code, stderr } = await kit(
    inPackage(t, 'setTimeout(() => { for (;;) {} }, 3000)\nawait new Promise(() => {})'),
  )
  t.match({ code, stderr }, { code: 2, stderr: /blocks its process/ })
})

t.test('a package that needs what the sandbox refuses is referred to --trusted', { skip }, async (t) => {
  const folder = inPackage(t, `import { execFileSync } from 'node:child_process'\nexecFileSync('git', ['--version'])`)
  const { code, stderr } = await kit(folder)
  t.equal(code, 2)
  t.match(
    stderr,
    /^The sandbox refused something\. A kit that starts programs.*--trusted\.\nThe kit could not run: .*restricted/s,
  )
})

t.test('a package that would open more than its own is refused', { skip }, async (t) => {
  const base = packageOf(t, 'export default null')
  const folder = join(base, 'package')
  const json = join(folder, 'package.json')
  const manifest = (more: object) => writeFileSync(json, JSON.stringify({ type: 'module', ...more }))
  mkdirSync(join(base, 'elsewhere'))
  writeFileSync(join(base, 'elsewhere/key.js'), '')

  manifest({ claimcheck: { conformance: '../elsewhere/key.js' } })
  t.match(await kit(folder), { code: 2, stderr: /definition leads out of the package.*--trusted/ })

  manifest({ claimcheck: { conformance: './conformance.js' }, dependencies: { elsewhere: '*' } })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync('../../elsewhere', join(folder, 'node_modules/elsewhere'))
  t.match(await kit(folder), {
    code: 2,
    stderr: /it depends on .*elsewhere, which is a folder outside node_modules: install.*npm pack/,
  })

  manifest({ claimcheck: { conformance: './conformance.js' } })
  symlinkSync('../elsewhere', join(folder, 'data'))
  t.match(await kit(folder), { code: 2, stderr: /the link .*data leads out of its package/ })
  t.match(await kit(EXAMPLE, [], { HOME: EXAMPLE }), { code: 2, stderr: /holds your home folder/ })
})

/** In a mount namespace: what is in the folder of `ip` without it. */
const WITHOUT_IP = `ip=$(realpath "$(command -v ip)") && folder=$(dirname "$ip") && mount -t tmpfs none "$1" && mkdir "$1/up" "$1/work" &&
  mount -t overlay -o "lowerdir=$folder,upperdir=$1/up,workdir=$1/work" none "$folder" && rm "$ip" && shift && exec "$@"`

t.test('where ip is not installed, perl starts the loopback', { skip }, async (t) => {
  const folder = inPackage(t, DEEDS)
  writeFileSync(join(folder, 'asked.json'), JSON.stringify({ home: '/', port: 1, name: 'none', pid: 1 }))
  mkdirSync(join(folder, '../layers'))
  const inside = ['--mount', 'sh', '-c', WITHOUT_IP, 'sh', join(folder, '../layers')]
  const command = (args: readonly string[]) => spawnSync('unshare', [...inside, ...args], { encoding: 'utf8' })
  const { status, stderr: problem } = command(['sh', '-c', '! command -v ip'])
  if (status !== 0) return void t.comment(`skipped: ip cannot be taken away here: ${problem}`)
  const { stderr } = command([process.execPath, PROGRAM, 'test', folder])
  t.match(stderr, /^ {2}\| own server: done of its own$/m)
  t.match(stderr, /^ {2}\| outside: ENETUNREACH$/m)
})

/** As in a container that lets it make no namespaces. */
const CONTAINER = [
  ...['--user', '--map-root-user', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"'],
  ...['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin'],
]

function inContainer(
  folder: string,
  args: readonly string[],
): Promise<{ readonly code: unknown; readonly output: string }> {
  return new Promise((done) => {
    execFile('unshare', [...CONTAINER, process.execPath, PROGRAM, ...args], { cwd: folder }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

t.test('without a sandbox, it says what is missing, and runs no code of the package but by --trusted', async (t) => {
  const folder = inPackage(t, `console.log('it ran')\nexport default null`)
  if ((await inContainer(folder, ['--version'])).code !== 0)
    return void t.comment('skipped: no container can be imitated here')
  const { code, output } = await inContainer(folder, ['test'])
  t.equal(code, 2)
  t.match(
    output,
    /^The kit could not run: this system does not let plugins be isolated \(unshare.*user namespaces.*--trusted it runs without the sandbox, with your rights/,
  )
  t.notMatch(output, 'it ran')
  t.match(await inContainer(folder, ['test', '--trusted']), { code: 2, output: /it ran/ })
})
