// Test run: end-to-end, slow
/** A Postgres that goes away again and again while a host starts ends no start; what trying again does not mend ends it at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CLAIMCHECK } from '../support/command.ts'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { freePort } from '../support/free-port.ts'
import { CANNOT_MOUNT, fill, mountSmallDisk } from '../support/small-disk.ts'

const AWAY_MS = 400

/** Stands before Postgres. After so many of its answers each connection ends, and none is made for a while. */
async function flappingProxy(t: Test, databaseUrl: string, budgets: readonly number[]) {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  let left = budgets[0]!
  let flaps = 0
  let isAway = false
  function goAway() {
    flaps++
    left = budgets[flaps] ?? Number.POSITIVE_INFINITY
    isAway = true
    for (const socket of open) socket.destroy()
    void setTimeout(AWAY_MS).then(() => {
      isAway = false
    })
  }
  const server = createServer((socket) => {
    if (isAway) return void socket.destroy()
    const other = connect(Number(target.port), target.hostname)
    for (const one of [socket, other]) {
      open.add(one)
      one.on('error', () => {}).on('close', () => open.delete(one))
    }
    socket.on('data', (chunk) => other.write(chunk)).on('close', () => other.destroy())
    other.on('close', () => socket.destroy())
    other.on('data', (chunk) => {
      if (isAway || left-- <= 0) return isAway ? undefined : goAway()
      socket.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  function calm() {
    left = Number.POSITIVE_INFINITY
  }
  return { url: url.href, flaps: () => flaps, calm }
}

/** Stands before Postgres, and keeps back what a client sends from this statement on. */
async function holdingProxy(t: Test, databaseUrl: string, statement: RegExp) {
  const target = new URL(databaseUrl)
  const open = new Set<Socket>()
  let hold = () => {}
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    hold = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const server = createServer((socket) => {
    const other = connect(Number(target.port), target.hostname)
    for (const one of [socket, other]) open.add(one.on('error', () => {}))
    let isHeld = false
    socket.on('data', (chunk) => {
      isHeld ||= statement.test(chunk.toString('latin1'))
      if (!isHeld) return void other.write(chunk)
      hold()
      void released.then(() => other.write(chunk))
    })
    socket.on('close', () => other.destroy())
    other.on('data', (chunk) => socket.write(chunk)).on('close', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return { url: url.href, held, release }
}

async function serve(t: Test, databaseUrl: string, secretKey = 'a'.repeat(64), port = '', dataDir = 'data') {
  port ||= String(await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-flapping-'))
  writeFileSync(join(folder, 'claimcheck.config.json'), '{"plugins":[]}')
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    PORT: port,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'silent',
  }
  const child = spawn(process.execPath, [CLAIMCHECK, 'serve', '--json'], { cwd: folder, env })
  t.teardown(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const started = once(child.stdout, 'data').then(([line]) => String(line).includes('"url"'))
  const ended = once(child, 'exit').then(([code]) => code as number)
  return { child, url: `http://127.0.0.1:${port}`, started, ended, errors: () => errors }
}

for (const [name, budgets] of [
  ['before, while and after it migrates', [1, 3, 8, 15, 25]],
  ['again and again', [9, 10, 11, 12, 13, 14]],
] as const) {
  t.test(`Postgres goes away ${name}`, LONG, async (t) => {
    const database = await createDatabase('postgres')
    t.teardown(() => database.remove())
    const proxy = await flappingProxy(t, database.env.DATABASE_URL!, budgets)
    const host = await serve(t, proxy.url)
    t.equal(await Promise.race([host.started, host.ended]), true, `it starts: ${host.errors()}`)
    t.ok(proxy.flaps() >= 2, `after ${proxy.flaps()} times`)
    proxy.calm()
    host.child.kill('SIGTERM')
    t.equal(await host.ended, 0, host.errors())
  })
}

t.test('a host that listens and has not told its address yet stops in order', LONG, async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const { url, held, release } = await holdingProxy(t, database.env.DATABASE_URL!, /insert into .*links/i)
  const host = await serve(t, url)
  await Promise.race([held, host.ended])
  t.equal((await fetch(`${host.url}/healthz`)).status, 200)
  host.child.kill('SIGTERM')
  await setTimeout(300)
  release()
  t.equal(await host.ended, 0, host.errors())
})

t.test('a host whose port is taken ends, and its plugins with it', LONG, async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const first = await serve(t, database.env.DATABASE_URL!)
  t.equal(await Promise.race([first.started, first.ended]), true, first.errors())
  const second = await serve(t, database.env.DATABASE_URL!, undefined, new URL(first.url).port)
  t.equal(await second.ended, 1)
  t.match(second.errors(), /address already in use|is taken|another program/i, second.errors())
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
})

t.test('a host that waited answers all the time', LONG, async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const proxy = await flappingProxy(t, database.env.DATABASE_URL!, [2, 9, 12])
  const host = await serve(t, proxy.url)
  let hasEnded = false
  void host.ended.then(() => {
    hasEnded = true
  })
  while (!(await fetch(`${host.url}/healthz`).catch(() => undefined))) {
    if (hasEnded) throw new Error(`it ended: ${host.errors()}`)
    await setTimeout(20)
  }
  const statuses = new Set<number | string>()
  let isOver = false
  const asking = (async () => {
    while (!isOver && !hasEnded) {
      const path = statuses.has(200) ? '/healthz' : '/readyz'
      statuses.add(
        await fetch(host.url + path).then(
          (answer) => answer.status,
          (error) => String(error.cause?.code ?? error),
        ),
      )
    }
  })()
  await Promise.race([host.started, host.ended])
  proxy.calm()
  await setTimeout(200)
  isOver = true
  await asking
  t.strictSame([...statuses].sort(), [200, 503])
  host.child.kill('SIGTERM')
  t.equal(await host.ended, 0)
})

t.test('a wrong key and a database that is not there end the start at once', async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const good = database.env.DATABASE_URL!
  const first = await serve(t, good)
  t.equal(await Promise.race([first.started, first.ended]), true)
  first.child.kill('SIGTERM')
  await first.ended
  const gone = new URL(good)
  gone.pathname += '_gone'
  for (const [databaseUrl, key] of [
    [gone.href, 'a'.repeat(64)],
    [good, 'b'.repeat(64)],
  ] as const) {
    const host = await serve(t, databaseUrl, key)
    t.equal(await host.ended, 1, host.errors())
    t.notMatch(host.errors(), /Waiting for the database/)
  }
})

for (const { isNew } of [{ isNew: true }, { isNew: false }]) {
  const name = `a host${isNew ? '' : ' that stopped in order'} starts as soon as a full disk has room`
  t.test(name, { skip: CANNOT_MOUNT }, async (t) => {
    const disk = mountSmallDisk('16m')
    const url = `sqlite:${join(disk.path, 'claimcheck.db')}`
    const dataDir = t.testdir()
    if (!isNew) {
      const before = await serve(t, url, undefined, undefined, dataDir)
      t.equal(await Promise.race([before.started, before.ended]), true, before.errors())
      before.child.kill('SIGTERM')
      t.equal(await before.ended, 0)
      t.strictSame(readdirSync(disk.path), ['claimcheck.db'], 'it took the other files of SQLite along')
    }
    fill(join(disk.path, 'filler'))
    const host = await serve(t, url, undefined, undefined, dataDir)
    t.teardown(() => disk.unmount())
    while (!/Waiting for the database/.test(host.errors())) {
      if ((await Promise.race([host.ended, setTimeout(50, 'runs')])) !== 'runs') break
    }
    t.match(host.errors(), /disk|ENOSPC|space/i)
    t.equal((await fetch(`${host.url}/readyz`)).status, 503)
    rmSync(join(disk.path, 'filler'))
    t.equal(await Promise.race([host.started, host.ended]), true, host.errors())
    host.child.kill('SIGTERM')
    t.equal(await host.ended, 0)
    t.strictSame(readdirSync(disk.path), ['claimcheck.db'], 'nothing else is left')
  })
}
