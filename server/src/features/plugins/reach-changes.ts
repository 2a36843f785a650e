/** Compares what two versions of a plugin may reach and what they verify, so that an operator sees what is new. */
import { hostWords, methodWords, type PluginOverview, socketWords, tokenHostWords } from '../../plugins/overview.ts'

export interface ReachChanges {
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

export function changesOfReach(before: PluginOverview, after: PluginOverview): ReachChanges {
  const [old, now] = [before, after].map(sentencesOf) as [readonly string[], readonly string[]]
  return {
    gained: now.filter((sentence) => !old.includes(sentence)),
    lost: old.filter((sentence) => !now.includes(sentence)),
  }
}

function sentencesOf({ manifest, actions, connections, readsThrough, isolation }: PluginOverview): readonly string[] {
  return [
    `runs ${isolation}`,
    ...hostWords(manifest).map((host) => `may ask ${host}`),
    ...tokenHostWords(manifest).map((host) => `gets tokens at ${host}`),
    ...methodWords(manifest).map((method) => `may send ${method}`),
    ...socketWords(manifest).map((socket) => `may open ${socket}`),
    ...(manifest.programs ?? []).map((program) => `starts ${program}`),
    ...actions.map(({ action, version }) => `verifies ${action}, version ${version}`),
    ...connections.map(({ provider, title }) => `connects ${title} (${provider})`),
    ...readsThrough.map((provider) => `reads through ${provider}`),
  ]
}
