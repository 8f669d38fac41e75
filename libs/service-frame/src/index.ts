export * from './framed-service';
export * from './frame';
