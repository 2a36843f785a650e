/** The proofs of a receipt, each with the result of its check. */

import { Code } from '../../../web/parts/values.tsx'
import type { Step, StepState } from '../../../web/receipt-view/steps.ts'

const STATES: Readonly<Record<StepState, readonly [mark: string, words: string]>> = {
  holds: ['✓', 'holds'],
  pending: ['…', 'pending'],
  not_checked: ['–', 'not checked'],
  none: ['–', 'none'],
  fails: ['✗', 'fails'],
}

/**
 * The list of proofs.
 * @param checkedBy a sentence that says who checked, and when; undefined before a check
 */
export function Proofs({
  steps,
  checkedBy,
  command,
}: {
  steps: readonly Step[]
  checkedBy: string | undefined
  command: string | undefined
}) {
  return (
    <>
      <p role="status">
        {checkedBy ?? 'Nothing is checked yet. If this stays so, your browser does not run the script of this page.'}
      </p>
      {checkedBy === undefined && command !== undefined && <Code text={command} label="the command" />}
      <ul class="steps">
        {steps.map(({ name, title, state, text }) => {
          const [mark, words] = STATES[state]
          return (
            <li class={state} id={`proof-${name}`}>
              <span class="mark" aria-hidden="true">
                {mark}
              </span>
              <div>
                <strong>{title}</strong>: <span class="state">{words}</span>
                <p>{text}</p>
              </div>
            </li>
          )
        })}
      </ul>
    </>
  )
}
