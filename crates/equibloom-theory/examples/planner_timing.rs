#![allow(missing_docs)]
use equibloom_theory::exact::*;
use std::time::Instant;
fn main(){
  for (bits,bpk) in [(64u32,10.0),(256,12.0),(512,8.0),(512,12.0),(512,24.0),(512,40.0),(4096,12.0),(32768,12.0)] {
    let keys=10_000_000u64; let blocks=(keys as f64*bpk/bits as f64) as u64;
    let k=((bpk*0.69) as u32).max(1); let load=(keys as f64/blocks as f64) as u32;
    for (name,p) in [("blocked",Placement::LeastLoaded{blocks,second_choice:0.0}),("alpha",Placement::LeastLoaded{blocks,second_choice:0.5}),
      ("single",Placement::Threshold{levels:Levels::Shared{blocks,choices:1},threshold:load+ 2*(load as f64).sqrt() as u32,probability:0.5,access_budget:None}),
      ("multi",Placement::Threshold{levels:Levels::Subtables(vec![blocks*8/10,blocks*15/100,blocks*5/100]),threshold:load+ (load as f64).sqrt() as u32/2,probability:0.5,access_budget:None}),
      ("seq",Placement::Threshold{levels:Levels::Shared{blocks,choices:3},threshold:load+ (load as f64).sqrt() as u32/2,probability:0.5,access_budget:None})] {
      let t=Instant::now(); let m=Machine{keys,data_bits:bits-6,hashes:k,placement:p}; let r=m.predict().unwrap();
      println!("{bits} {bpk} {name}: {:?} rate {:e} miss {} overflow {}",t.elapsed(),r.rate,r.accesses_miss,r.overflow_fraction);
    }
  }
}
