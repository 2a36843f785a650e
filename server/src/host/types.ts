/** The types that follow from a list of features: what services there are, and that each finds those that it needs. */
import type { Command } from 'commander'
import type { MembersOf } from '../config/section.ts'
import type { Factories, Feature, Program, WithServices } from './feature.ts'

type FactoriesOf<F> = F extends { readonly services: () => Promise<infer T extends Factories> } ? T : never

/** The services that these factories make. */
export type Made<T> = { readonly [K in keyof T]: T[K] extends (services: never) => infer R ? R : never }

/** The configuration that the sections of all features make. */
export type ConfigOf<L extends readonly Feature[]> = Both<SectionOf<L[number]>>

type SectionOf<F> = F extends { readonly config: infer S } ? MembersOf<S> : never

type Both<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** The services of all features by name. */
export type ServicesOf<L extends readonly Feature[]> = Both<Made<FactoriesOf<L[number]>>>

/** A feature that finds what it needs among the services S: a compile error where it does not. */
export interface Complete<S> extends Feature<S> {
  readonly services?: () => Promise<Readonly<Record<string, (services: S) => unknown>>>
  readonly commands?: (program: Command, withServices: WithServices<S>, own: Program) => void
}
