/** The field that asks for a target to try: a repository, a package, a page. */
import type { Trial } from '@claimcheck/core/plugin'
import type { HostedConnectionType } from '../../../../plugins/hosted.ts'
import { Prose } from '../../../../web/words.tsx'
import { Field } from '../../parts/form.tsx'

/** The name of the field for the target to read through the connection. */
export const TRY = 'try'

export function TrialField({
  type: { trial },
  value,
  problem,
}: Readonly<Record<'value' | 'problem', string | undefined>> & { type: HostedConnectionType }) {
  if (!trial) return null
  return (
    <Field
      name={TRY}
      label={trialLabel(trial)}
      autocomplete="off"
      spellcheck={false}
      value={value}
      problem={problem}
      help={<Prose text={trialHelp(trial)} />}
    />
  )
}

export function trialLabel({ title }: Trial): string {
  return `${title} to try`
}

function trialHelp({ description, example }: Trial): string {
  const such = example === undefined ? '' : ` For example: \`${example}\`.`
  return `${description}${such} It is read now, to see that the connection works. Without it, that is not tried.`
}
