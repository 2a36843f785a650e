// Test run: end-to-end, slow
/** Who gets a place for a process, and who gives one up: with stand-ins that only count, where the rest is as it ships. */
import { setTimeout } from 'node:timers/promises'
import { PluginEndedError, type Tenant } from '@claimcheck/server/plugins/hosted'
import { type CellProcess, Cells } from '@claimcheck/server/plugins/isolation/cells'
import t, { type Test } from 'tap'

class StandIn implements CellProcess {
  readonly endedAt = Number.NEGATIVE_INFINITY
  mib = 0
  restarts = 0
  ends = 0
  isClosed = false
  state = () => ({ status: this.isClosed ? ('stopped' as const) : ('running' as const), restarts: this.restarts })
  /** Resolves when it is set. */
  started: Promise<void> = Promise.resolve()
  available = () => this.started
  memoryMib = () => this.mib
  end() {
    this.ends++
  }
  async close() {
    this.isClosed = true
  }
}

function begin(
  t: Test,
  limits: { most?: number; memoryMib?: number; isShared?: boolean } = {},
  started: Promise<void> = Promise.resolve(),
) {
  const processes = [new StandIn()]
  const cells = new Cells<StandIn>({
    most: 4,
    memoryMib: 10_000,
    isShared: false,
    ...limits,
    first: processes[0]!,
    start() {
      const process = new StandIn()
      process.started = started
      processes.push(process)
      return process
    },
  })
  t.teardown(() => cells.close())

  /** Works until it is ended. */
  function work(workspaceId: string, payer = workspaceId, urgency?: Tenant['urgency'], until = () => never) {
    const tenant = { workspaceId, payer, ...(urgency ? { urgency } : {}) }
    let begun: StandIn | undefined
    let end = () => {}
    const isOver = new Promise<void>((resolve) => {
      end = resolve
    })
    const done = cells.within(tenant, until, async ({ process }) => {
      begun = process
      await isOver
    })
    done.catch(() => {})
    return {
      done,
      /** @param withinMs a cell rests before it ends for another one; what must not begin gets `SOON` */
      process: async (withinMs = LONG) => {
        for (const end = performance.now() + withinMs; !begun && performance.now() < end; ) await setTimeout(5)
        return begun
      },
      async end() {
        end()
        await done
      },
    }
  }
  return { cells, processes, work }
}

const LONG = 5000
const SOON = 20
const never = new AbortController().signal
// Nothing here keeps this process: the timers of cells do not.
const kept = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(kept))

t.test('each workspace has a process, the first one that was started ahead, and keeps it', async (t) => {
  const { work, processes, cells } = begin(t)
  const one = work('one')
  const first = await one.process()
  t.equal(first, processes[0])
  const other = await work('other').process()
  t.not(other, first)
  await one.end()
  t.equal(await work('one').process(), first)
  t.equal(processes.length, 3, 'one is ahead')
  t.ok(cells.isRunning('one'))
  t.notOk(cells.isRunning('another'))
})

t.test('a plugin without credentials has one process for all', async (t) => {
  const { work, processes } = begin(t, { isShared: true })
  const works = Array.from({ length: 9 }, (_, index) => work(`wsp_${index}`, 'one payer'))
  for (const { process } of works) t.equal(await process(), processes[0])
  t.equal(processes.length, 1)
})

t.test('the cell that is idle the longest ends for another one, of the account that has the most', async (t) => {
  const { work, cells } = begin(t)
  const ended: StandIn[] = []
  for (const [workspace, payer] of [
    ['poor', 'poor'],
    ['rich 1', 'rich'],
    ['rich 2', 'rich'],
    ['rich 3', 'rich'],
  ] as const) {
    const worked = work(workspace, payer)
    ended.push((await worked.process())!)
    await worked.end()
  }
  // Each is left alone for a moment: a claim has several calls.
  const next = work('rich 4', 'rich')
  t.equal(await next.process(SOON), undefined)
  t.ok(await next.process())
  t.strictSame(
    ended.map(({ isClosed }) => isClosed),
    [false, true, false, false],
  )
  t.match(cells.state().cells, { evictions: 1, working: 1 })
})

t.test('no cell that works is ended: who comes next waits until one is done', async (t) => {
  const { work, cells } = begin(t)
  const works = ['one', 'two', 'three'].map((workspace) => work(workspace))
  const last = work('last')
  t.equal(await last.process(SOON), undefined)
  t.equal(cells.state().cells!.waiting, 1)
  t.notOk(cells.isRunning('last'))
  await works[1]!.end()
  t.ok(await last.process())
  t.equal(cells.state().cells!.waiting, 0)
})

t.test('places are kept for what decides and for what is over at once', async (t) => {
  for (const urgency of ['deciding', 'brief'] as const) {
    const { work } = begin(t)
    for (const workspace of ['one', 'two', 'three']) t.ok(await work(workspace).process())
    t.equal(await work('usual').process(SOON), undefined)
    t.ok(await work('urgent', 'urgent', urgency).process())
    t.equal(await work('urgent').process(SOON), undefined, 'what is usual waits in that cell, too')
  }
})

t.test('two processes start at a time, whoever asks for more', async (t) => {
  let start = () => {}
  const started = new Promise<void>((resolve) => {
    start = resolve
  })
  const { work, processes } = begin(t, { most: 16 }, started)
  const works = Array.from({ length: 6 }, (_, index) => work(`wsp_${index}`))
  await Promise.all(works.map(({ process }) => process(SOON)))
  t.equal(processes.length, 3, 'with the first one')
  start()
  for (const { process } of works) t.ok(await process())
})

t.test('processes that never start hold up no others', async (t) => {
  const { work, processes } = begin(t, { most: 16 }, new Promise(() => {}))
  await work('has the first').process()
  const waiting = ['one', 'two', 'three'].map((name) => work(name))
  await setTimeout(100)
  t.equal(processes.length, 3, 'two of them start')
  t.ok(await waiting[2]!.process(15_000))
})

t.test('what decides goes first, then who has the least', async (t) => {
  const { work } = begin(t, { most: 2 })
  const before = [work('one', 'rich'), work('two', 'other', 'deciding')]
  for (const { process } of before) t.ok(await process())
  const waiting = [work('three', 'rich'), work('four', 'poor'), work('five', 'rich', 'deciding')]
  for (const { process } of waiting) t.equal(await process(SOON), undefined)
  await before[1]!.end()
  t.ok(await waiting[2]!.process())
  await waiting[2]!.end()
  t.ok(await waiting[1]!.process())
  t.equal(await waiting[0]!.process(SOON), undefined)
  await before[0]!.end()
  t.ok(await waiting[0]!.process())
})

t.test('a cell that comes to rest while those who wait are asked in turn goes to whoever is first', async (t) => {
  const { work } = begin(t, { most: 2 })
  const before = [work('one', 'rich'), work('two', 'other', 'deciding')]
  for (const { process } of before) t.ok(await process())
  const waiting = [work('four', 'poor'), work('five', 'rich', 'deciding')]
  for (const { process } of waiting) t.equal(await process(SOON), undefined)
  // With two readings of this clock, a cell has rested.
  const { now } = performance
  let readings = 0
  performance.now = () => now.call(performance) + readings++ * 200
  t.teardown(() => {
    performance.now = now
  })
  await before[1]!.end()
  performance.now = now
  t.ok(await waiting[1]!.process())
  t.equal(await waiting[0]!.process(SOON), undefined)
})

t.test('no account has all places', async (t) => {
  const { work } = begin(t, { most: 16 })
  const works = Array.from({ length: 16 }, (_, index) => work(`wsp_${index}`, 'one payer'))
  const begun = (await Promise.all(works.map(({ process }) => process(SOON)))).filter(Boolean)
  t.equal(begun.length, 9)
  t.ok(await work('another').process())
})

t.test('a workspace that never pauses has its turn, and others theirs', async (t) => {
  const { work } = begin(t, { most: 1 })
  let current = work('busy')
  t.ok(await current.process())
  const other = work('other')
  const end = performance.now() + 2200
  while (performance.now() < end) {
    const next = work('busy')
    if ((await next.process(SOON)) === undefined) break
    await current.end()
    current = next
  }
  await current.end()
  t.ok(await other.process())
})

t.test('a call whose time is over waits no more, nor one when the plugin is stopped', async (t) => {
  const { work, cells } = begin(t, { most: 1 })
  t.ok(await work('one').process())
  await t.rejects(work('two', 'two', undefined, () => AbortSignal.timeout(20)).done, /no process free/)
  await t.rejects(work('two', 'two', undefined, () => AbortSignal.abort()).done, /no process free/)
  const waiting = work('three')
  await cells.close()
  await t.rejects(waiting.done, /stopped/)
  await t.rejects(work('four').done, /stopped/)
  t.match(cells.state(), { status: 'stopped', cells: { waiting: 0 } })
})

t.test('all processes together keep to their memory: idle ones end first, then the largest', async (t) => {
  const { work, processes, cells } = begin(t, { memoryMib: 300 })
  const idle = work('idle')
  await idle.process()
  await idle.end()
  const works = ['small', 'large'].map((workspace) => work(workspace))
  for (const { process } of works) await process()
  const [of, small, large] = processes as [StandIn, StandIn, StandIn]
  of.mib = 150
  small.mib = 100
  large.mib = 190
  await setTimeout(1200)
  t.ok(of.isClosed)
  t.strictSame([small.ends, large.ends], [0, 0], 'that was enough')
  small.mib = 150
  await setTimeout(1200)
  t.strictSame([small.ends, large.ends], [0, 1])
  t.equal(await work('more').process(SOON), undefined, 'nothing more starts')
  t.match(cells.state().cells, { evictions: 1, waiting: 1 })
})

/** Work of a workspace that goes down with the process at first, and what came of it. */
function falling(cells: Cells<StandIn>, workspaceId: string, again: (process: StandIn) => Promise<string>) {
  const tenant = { workspaceId, payer: workspaceId }
  return cells
    .within(
      tenant,
      () => never,
      ({ process }, isAgain) => (isAgain ? again(process) : Promise.reject(new PluginEndedError('it ended', false))),
    )
    .catch((error: Error) => error.name)
}

t.test('what goes down with a process is made again alone, one after the other, before all that comes', async (t) => {
  const { cells, work } = begin(t)
  const order: string[] = []
  const made = ['one', 'two', 'ends', 'three'].map((name) =>
    falling(cells, 'busy', async () => {
      order.push(`${name} begins`)
      await setTimeout(5)
      order.push(`${name} is over`)
      if (name === 'ends') throw new PluginEndedError('it ended', true)
      return name
    }),
  )
  await setTimeout(1)
  const later = work('busy')
  const other = work('other')
  t.ok(await other.process())
  t.notOk(order.includes('three is over'))
  t.ok(await later.process())
  t.strictSame(
    order,
    ['one', 'two', 'ends', 'three'].flatMap((name) => [`${name} begins`, `${name} is over`]),
  )
  t.strictSame(await Promise.all(made), ['one', 'two', 'PluginEndedError', 'three'])
})

t.test('what is made again beside work that had begun is made once more where that ended the process', async (t) => {
  const { cells } = begin(t)
  const tries: boolean[] = []
  const once = falling(cells, 'busy', async () => {
    tries.push(tries.length > 0)
    if (tries.length === 1) throw new PluginEndedError('it ended', false)
    return 'made'
  })
  t.equal(await once, 'made')
  t.strictSame(tries, [false, true])
})

t.test('a call whose time is over waits for no repeats', async (t) => {
  const { cells, work } = begin(t)
  let end = () => {}
  const repeat = falling(cells, 'busy', () => new Promise((resolve) => (end = () => resolve('made'))))
  await setTimeout(1)
  await t.rejects(work('busy', 'busy', undefined, () => AbortSignal.timeout(20)).done, /made again first/)
  end()
  t.equal(await repeat, 'made')
})

t.test('what goes down with the process of all workspaces is made again in a cell of its own', async (t) => {
  const { cells, processes, work } = begin(t, { isShared: true })
  const common = await work('honest').process()
  let end = () => {}
  const hanging = falling(cells, 'hanging', () => new Promise((resolve) => (end = () => resolve('made'))))
  const quick = falling(cells, 'quick', async (process) => {
    t.not(process, common)
    return 'made'
  })
  const ending = falling(cells, 'ending', (process) => {
    t.not(process, common)
    process.restarts++
    return Promise.reject(new PluginEndedError('it ended', true))
  })
  t.strictSame(await Promise.all([quick, ending]), ['made', 'PluginEndedError'])
  t.equal(await work('another').process(), common, 'which goes on for the others')
  end()
  await hanging
  t.equal(processes.length, 4)
  await setTimeout(2200)
  t.equal(await work('quick').process(), common, 'an innocent workspace is back')
  const its = await work('ending').process()
  t.ok(its !== common && its?.restarts === 1, 'one that ends the process alone stays apart')
})
