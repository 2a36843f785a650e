/** The pages of the actions that come with Claimcheck, by the names of their files. */
import { loadConfig } from '@claimcheck/server/features'
import { actionIndex, actionPage, readableActions } from '@claimcheck/server/plugins/action-page'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import { pino } from 'pino'

/** @param folder the checkout, whose configuration lists the plugins */
export async function actionPages(folder: string): Promise<ReadonlyMap<string, string>> {
  const registry = await loadPlugins(loadConfig({}, folder), { logger: pino({ level: 'silent' }), now: Date.now })
  const actions = readableActions(registry)
  await Promise.all(registry.plugins.map(({ parts }) => parts.close()))
  return new Map([
    ['README.md', actionIndex(actions)],
    ...actions.map((one) => [`${one.profile.action}.md`, actionPage(one)] as const),
  ])
}
