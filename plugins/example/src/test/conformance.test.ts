/** The plugin passes the kit: its cases, and what every destination does to a verifier sooner or later. */
import test from 'node:test'
import { verifierConformance } from '@claimcheck/core/testkit'
import conformance from './conformance.ts'

await verifierConformance(test, conformance)
