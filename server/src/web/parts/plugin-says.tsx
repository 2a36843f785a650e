/** The words of a stranger's plugin, apart from those of the house. */
import { visible } from '@claimcheck/core/words/plain-text'

export function PluginSays({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <p>The plugin says, in words of its own, which are not the verdict:</p>
      <ul>
        {sentences.map((sentence) => (
          <li>{visible(sentence)}</li>
        ))}
      </ul>
    </>
  )
}
