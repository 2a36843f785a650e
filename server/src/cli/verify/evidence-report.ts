/** What the check of the evidence found, in lines for a person. */
import type { EvidenceFinding } from '@claimcheck/core'
import type { CheckedEvidence } from './evidence-check.ts'
import { type Paint, visible } from './style.ts'

const CONSISTENT = 'This shows that checks and verdict agree, not that no check was left out.'

type Rules = Extract<EvidenceFinding, { evidence: 'follows' }>['rules']

const FOLLOWS: Readonly<Record<Rules, string>> = {
  published: 'by the rules that the issuer publishes',
  unknown: 'by rules that were not compared: no list of published rules names them',
  differs: 'but by OTHER RULES than the issuer publishes for this version of the action',
}

/** @param evidence undefined where the receipt signs none */
export function evidenceLine(evidence: CheckedEvidence | undefined, paint: Paint): string {
  if (!evidence) return 'Evidence: absent. The receipt signs none, so the verdict cannot be recomputed.'
  const { finding, problem } = evidence
  switch (finding.evidence) {
    case 'follows': {
      const line = `Evidence: the verdict follows from the checks, ${FOLLOWS[finding.rules]}. ${CONSISTENT}`
      return finding.rules === 'differs' ? paint('bad', line) : line
    }
    case 'not_checked':
      return paint('doubtful', `Evidence: not checked. ${problem ?? NEXT}.`)
    default:
      return paint('bad', `Evidence: ${evidenceProblem(finding)}.`)
  }
}

const NEXT = 'Pass --evidence, a file or a URL'

/** Undefined where nothing is wrong with it. */
export function evidenceProblem(finding: EvidenceFinding): string | undefined {
  switch (finding.evidence) {
    case 'absent':
      return 'it signs no evidence, so that this evidence is not its own'
    case 'digest_differs':
      return 'this is not the evidence that it signs: the digest differs'
    case 'does_not_follow':
      return finding.differs.includes('form')
        ? 'the evidence is not in the form of evidence'
        : `it does not follow from its evidence, which says otherwise: ${visible(finding.differs.join(', '))}`
    case 'follows':
    case 'not_checked':
      return undefined
  }
}
