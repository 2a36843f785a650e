/**
 * Tells which pipelines of a commit count. One replaces an older one of its ref and source only if it was started without variables of its own: with
 * some, a push, a person or a trigger can leave out what failed.
 */
import { BY_HAND, BY_HOST, EXTERNAL, type Pipeline, type Pipelines } from './pipelines.ts'

export interface CountedPipeline extends Pipeline {
  /** The name of the series to which the pipeline belongs, whose newest pipeline counts. */
  readonly series: string
  /** Tells that there is a newer pipeline that would replace this one, or does: what is red in it spoils the commit, and is blamed on nobody. */
  readonly isOutdated: boolean
  /** Tells that somebody started the pipeline by hand, with variables or with none that are shown. */
  readonly isByHand: boolean
}

const ENDED_WELL: ReadonlySet<string> = new Set(['success', 'skipped'])

export function hasEndedWell({ status }: Pick<Pipeline, 'status'>): boolean {
  return ENDED_WELL.has(status)
}

/** Sorts pipelines into series. It asks for variables only where an older one has not ended well. @param pipelines all pipelines, newest first */
export async function countedPipelines(
  source: Pick<Pipelines, 'isPlain'>,
  pipelines: readonly Pipeline[],
): Promise<CountedPipeline[]> {
  const asked = new Map<number, Promise<boolean>>()
  const isPlain = (pipeline: Pipeline) => {
    const plain = asked.get(pipeline.id) ?? source.isPlain(pipeline)
    asked.set(pipeline.id, plain)
    return plain
  }
  const newest = lastOf(pipelines, ({ ref, source }) => [ref, source])
  const counted: CountedPipeline[] = []
  for (const pipeline of pipelines) {
    const { id, ref } = pipeline
    const own = newest.find((one) => isAlike(one, pipeline))!
    const isHosts = BY_HOST.has(pipeline.source)
    const byHand = newest.find((one) => isHosts && one.ref === ref && one.id > id && BY_HAND.has(one.source))
    const newer = own.id > id ? own : byHand
    const isReplaced =
      newer !== undefined &&
      (hasEndedWell(pipeline) || pipeline.source === EXTERNAL ? own === newer : await isPlain(newer))
    const isOutdated = own.id > id || isReplaced
    counted.push({
      ...pipeline,
      isOutdated,
      isByHand: false,
      series: seriesOf(isReplaced ? newer : pipeline, own.id > id && !isReplaced),
    })
  }
  return Promise.all(
    counted.map(async (one) => ({ ...one, isByHand: BY_HAND.has(one.source) && !(await asked.get(one.id)) })),
  )
}

function seriesOf({ id, ref, source }: Pipeline, isAlone: boolean): string {
  return JSON.stringify([ref, source, ...(isAlone ? [id] : [])])
}

function isAlike(one: Pipeline, other: Pipeline): boolean {
  return one.ref === other.ref && one.source === other.source
}

/** Takes the entry with the highest id of those with the same key. */
export function lastOf<T extends { readonly id: number }>(
  all: readonly T[],
  keyOf: (one: T) => readonly string[],
): T[] {
  const byKey = new Map<string, T>()
  for (const one of all) {
    const key = JSON.stringify(keyOf(one))
    const other = byKey.get(key)
    if (!other || other.id < one.id) byKey.set(key, one)
  }
  return [...byKey.values()]
}
