/** The only room that imports TensorFlow.js and onnxruntime-node. */
export * as tf from '@tensorflow/tfjs';
