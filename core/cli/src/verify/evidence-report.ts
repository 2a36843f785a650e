/** Reports the check of the evidence in a line for a person. */
import type { EvidenceFinding } from '@claimcheck/core/receipts'
import { EVIDENCE_LIMIT, evidenceProblem, GIVEN_RULES_WORDS, RULES_WORDS } from '@claimcheck/core/words/checks'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Gathered } from './gather.ts'
import type { Paint } from './style.ts'

/** Words for the check of the evidence. @param finding undefined where the receipt signs none */
export function evidenceLine(
  finding: EvidenceFinding | undefined,
  { noEvidence, profilesFrom }: Pick<Gathered, 'noEvidence' | 'profilesFrom'>,
  paint: Paint,
): string {
  if (!finding) return 'Evidence: absent. The receipt signs none, so the verdict cannot be recomputed.'
  switch (finding.evidence) {
    case 'follows': {
      const words = profilesFrom === 'the bundle' ? GIVEN_RULES_WORDS : RULES_WORDS
      const line = `Evidence: the verdict follows from the checks, ${words[finding.rules]}. ${EVIDENCE_LIMIT}`
      return finding.rules === 'differs' ? paint('bad', line) : line
    }
    case 'not_checked':
      return paint('doubtful', `Evidence: not checked. ${noEvidence ?? NEXT}.`)
    default:
      return paint('bad', `Evidence: ${visible(evidenceProblem(finding)!)}.`)
  }
}

const NEXT = 'Pass --evidence, a file or a URL'
