/** The words of a stranger's plugin, apart from those of the house. */
import { visible } from '@claimcheck/core/words/plain-text'
import { List } from './facts.tsx'

export function PluginSays({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <p>The plugin says, in words of its own, which are not the verdict:</p>
      <List items={sentences.map(visible)} />
    </>
  )
}
