import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/server/plugins/isolation/problems'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t from 'tap'
import { makePluginPackage, pluginChecking } from '../../../../test/support/plugin-package.ts'
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

t.test('a plugin that loads for longer than a message may take starts', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-plugin-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const loads = 'while (process.cpuUsage().user < 2_000_000);'
  writeFileSync(join(folder, 'heavy.js'), `${loads}\n${pluginChecking('')}`)
  const use = makePluginPackage(folder, join(folder, 'heavy.js'))
  const silent = () => {}
  const logger = { debug: silent, info: silent, warn: silent, child: () => logger }
  const config = { plugins: [{ use, with: {} }], pluginDir: folder, dataDir: folder }
  const { plugins } = await loadPlugins(config, { logger, now: Date.now })
  t.match(plugins[0]!.parts.state(), { status: 'running', restarts: 0 })
  await plugins[0]!.parts.close()
})
