export * from './bapo.ts';
export {
  type BatchTokens,
  selectClipCov,
  selectKlCov,
  tokenCovariances,
} from './covariance.ts';
export {
  type PreparedPolicyLoss,
  preparePolicyLoss,
  type ResolvedPolicyLoss,
} from './surrogate.ts';
export { detach } from './surrogate-inputs.ts';
