import { setTimeout } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/server/plugins/isolation/problems'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t from 'tap'
import { installedPlugin } from './world.ts'

const skip = (await isolationProblem()) ?? false
const isRunning = () => process.getActiveResourcesInfo().includes('ProcessWrap')

t.test(
  'a plugin that is set up after its time leaves no process, which would keep the service alive',
  { skip },
  async (t) => {
    const { folder, use } = installedPlugin(t, 'build/server/test/plugins/isolation/deeds.js')
    const silent = () => {}
    const logger = { debug: silent, info: silent, warn: silent, child: () => logger }
    const config = { plugins: [{ use, with: {} }], pluginDir: folder, dataDir: folder }
    const loading = loadPlugins(config, { logger, now: Date.now, setupTimeoutMs: 100 })
    await t.rejects(loading, /takes longer than 100 ms/)
    const end = performance.now() + 10_000
    do await setTimeout(100)
    while (isRunning() && performance.now() < end)
    t.notOk(isRunning())
  },
)
