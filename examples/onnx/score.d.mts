import type { InferenceSession } from 'onnxruntime-node';

export interface ExportedPicture {
  width: number;
  height: number;
  patchSize: number;
  mergeSize: number;
  temporalPatchSize: number;
  imageMean: readonly number[];
  imageStd: readonly number[];
  pixelValues: readonly number[];
}
export function open(
  folder: string,
  options?: InferenceSession.SessionOptions,
): Promise<{
  facts: { weights: string | null; picture: ExportedPicture };
  answer(pixels: Uint8Array): Promise<{ tokens: number[]; firstLogits: Float32Array }>;
}>;
export function patchesOf(pixels: Uint8Array, picture: ExportedPicture): Float32Array;
